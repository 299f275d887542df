import { EngineError } from "../engine.ts";
import type { Engine } from "../engine.ts";
import { bad } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { compareCounts, readCounts } from "./engine-counts.ts";
import { examineHangUps } from "./examine-hang-ups.ts";
import { examineCache, examineSampling, examineSpread } from "./examine-answers.ts";
import { FrontPrompts } from "./front-prompts.ts";

export interface ExamineFrontOptions {
  /** The settings of the front that would work, in one sentence. */
  readonly advice: string;
  /** The time for one request, in milliseconds. */
  readonly patienceMs: number;
  /** `chat`: it gets messages, so it counts their tokens with its own template. */
  readonly protocol: "completions" | "chat";
  /** The base URLs of the engines behind it. If they are known, their own counters confirm what the answers say. */
  readonly engines: readonly string[];
}

type Check = (topic: string) => Promise<Finding>;

/**
 * Examines an upstream by the counts that its engines report for prompts that nobody has sent before. So the result does not
 * depend on what a service in between says of itself. A request that fails ends the examination with a finding.
 * @throws {Error} if an engine's counters cannot be read
 */
export async function examineFront(topic: string, engine: Engine, options: ExamineFrontOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, check] of await checksOf(engine, options)) {
    try {
      findings.push(await check(`${topic}: ${name}`));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const why = `A request failed, so nothing more was examined: ${error.message}.`;
      return [...findings, bad(`${topic}: ${name}`, why)];
    }
  }
  return findings;
}

async function checksOf(engine: Engine, options: ExamineFrontOptions): Promise<[name: string, check: Check][]> {
  const before = await readCounts(options.engines);
  // Where keys share cached prompts, answers do not tell how many tokens were cached.
  const isHidden = engine.metadata?.promptCache?.isShared === true;
  const isCounted = before.length > 0;
  const prompts = new FrontPrompts(engine, options.patienceMs, isHidden && isCounted ? options.engines : []);
  const caches: [string, Check][] = [
    ["cache", (topic) => examineCache(topic, prompts, options)],
    ["engines", (topic) => examineSpread(topic, prompts, options)],
  ];
  const compare: Check = async (topic) =>
    compareCounts(topic, prompts.counted, before, await readCounts(options.engines), options.advice);
  return [
    ...(isHidden && !isCounted ? [["cache", async (topic) => bad(topic, hidden)] satisfies [string, Check]] : caches),
    ["answers", (topic) => examineSampling(topic, prompts)],
    ...(isCounted ? [["engines' counters", compare] satisfies [string, Check]] : []),
    ["hang-ups", (topic) => examineHangUps(topic, prompts, options)],
  ];
}

const hidden =
  "Cached tokens are not counted, because it reuses the prompts of one key for another: name the engines with --engines, and their own counters will show them.";
