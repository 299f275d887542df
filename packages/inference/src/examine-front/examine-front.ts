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

/**
 * Examines an upstream by the counts that its engines report for prompts that nobody has sent before. So the result does not
 * depend on what a service in between says of itself.
 * @throws {EngineError} if it does not answer
 * @throws {Error} if an engine's counters cannot be read
 */
export async function examineFront(topic: string, engine: Engine, options: ExamineFrontOptions): Promise<Finding[]> {
  const before = await readCounts(options.engines);
  // Where keys share cached prompts, answers do not tell how many tokens were cached.
  const isHidden = engine.metadata?.promptCache?.isShared === true;
  const isCounted = before.length > 0;
  const prompts = new FrontPrompts(engine, options.patienceMs, isHidden && isCounted ? options.engines : []);
  const findings: Finding[] = [];
  if (isHidden && !isCounted) {
    const why =
      "Cached tokens are not counted, because it reuses the prompts of one key for another: name the engines with --engines, and their own counters will show them.";
    findings.push(bad(`${topic}: cache`, why));
  } else {
    findings.push(await examineCache(`${topic}: cache`, prompts, options));
    findings.push(await examineSpread(`${topic}: engines`, prompts, options));
  }
  findings.push(await examineSampling(`${topic}: answers`, prompts));
  if (isCounted) {
    const after = await readCounts(options.engines);
    findings.push(compareCounts(`${topic}: engines' counters`, prompts.counted, before, after, options.advice));
  }
  findings.push(await examineHangUps(`${topic}: hang-ups`, prompts, options));
  return findings;
}
