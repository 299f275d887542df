import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runLoad } from "../native/run-load.ts";
import type { SimulatedEngine } from "../native/start-engine.ts";
import { bodyOf, LoadFailedError } from "./measure.ts";
import { useOfTree } from "./process-tree.ts";
import type { Subject, SubjectKind } from "./subjects/subject.ts";

/** The memory of a subject after each part of a soak. */
export interface Soak {
  readonly subject: string;
  readonly samples: readonly Sample[];
  /** The reason why it ended early; absent if it ran to its end. */
  readonly failure?: string;
}

export interface Sample {
  /** Minutes since the load began. */
  readonly minutes: number;
  readonly bytes: number;
  readonly answers: number;
}

interface SoakPlan {
  readonly minutes: number;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

const intervalMs = 20;
/** Each part has two halves of this length: plain answers, then streams. Answers that are still running at the end of a half are aborted. */
const partSeconds = 10;
const connections = 24;
const tokens = 20;
/** Pause between the last answer of a part and the measurement of the memory. */
const settleMs = 1000;

/** Loads the subject at the engine's pace and measures its memory after each part. If it ends early, the samples so far are kept. */
export async function soak(kind: SubjectKind, engine: SimulatedEngine, plan: SoakPlan): Promise<Soak> {
  const folder = join(plan.folder, kind.name);
  mkdirSync(folder, { recursive: true });
  await using subject = await kind.start(engine, folder);
  const { pid } = subject;
  if (pid === undefined) throw new LoadFailedError(`${kind.title} has no process to look at`);
  await engine.setPace({ intervalMs });
  const samples: Sample[] = [];
  const began = performance.now();
  const minutes = (): number => (performance.now() - began) / 60_000;
  let answers = 0;
  while (minutes() < plan.minutes) {
    try {
      for (const isStream of [false, true]) answers += await loadPart(subject, isStream, { ...plan, folder });
      await wait(settleMs, undefined, { signal: plan.signal });
    } catch (error) {
      // Ctrl-C in a terminal may end the load before this process gets the signal.
      return { subject: kind.title, samples, failure: error instanceof Error ? error.message : String(error) };
    }
    const bytes = useOfTree(pid).memoryBytes;
    samples.push({ minutes: minutes(), bytes, answers });
    plan.log(`${minutes().toFixed(1)} of ${plan.minutes} minutes: ${(bytes / 1e6).toFixed(1)} MB, ${answers} answers`);
  }
  return { subject: kind.title, samples };
}

async function loadPart(subject: Subject, stream: boolean, { folder, signal }: SoakPlan): Promise<number> {
  const { port, path, headers } = subject;
  const body = bodyOf(tokens, stream);
  const load = { port, path, headers, body, connections, seconds: partSeconds, spreadSeconds: 1 };
  const { result } = await runLoad(load, folder, () => undefined, signal);
  const { answers, refused, cut, wrong, sample } = result;
  if (refused + cut + wrong > 0)
    throw new LoadFailedError(`${refused} refused, ${cut} cut, ${wrong} wrong (${sample})`);
  return answers;
}

/** Returns the growth in bytes per ten minutes, by least squares over the samples after the first third (the warm-up). NaN for fewer than two. */
export function growthOf(samples: readonly Sample[]): number {
  const last = samples.at(-1)?.minutes ?? 0;
  const counted = samples.filter(({ minutes }) => minutes >= last / 3);
  const mean = (of: (sample: Sample) => number): number =>
    counted.reduce((sum, sample) => sum + of(sample), 0) / counted.length;
  const [middle, level] = [mean(({ minutes }) => minutes), mean(({ bytes }) => bytes)];
  const along = mean(({ minutes, bytes }) => (minutes - middle) * (bytes - level));
  return (10 * along) / mean(({ minutes }) => (minutes - middle) ** 2);
}

/** Writes the curve as Markdown: a row for about every tenth of the time, with the least of its samples. */
export function writeSoak({ subject, samples, failure }: Soak): string {
  const last = samples.at(-1)?.minutes ?? 0;
  const rows = Array.from({ length: 10 }, (_, tenth) => {
    const [from, to] = [(tenth * last) / 10, ((tenth + 1) * last) / 10];
    const within = samples.filter(({ minutes }) => minutes > from && minutes <= to);
    const least = Math.min(...within.map(({ bytes }) => bytes));
    return within.length === 0
      ? []
      : [`| ${to.toFixed(1)} | ${(least / 1e6).toFixed(1)} | ${within.at(-1)?.answers} |`];
  });
  const growth = growthOf(samples) / 1e6;
  return [
    Number.isFinite(growth)
      ? `${subject}: ${growth.toFixed(2)} MB of growth in 10 minutes, by a straight line through the samples of the last two thirds.`
      : `${subject}: the soak was too short to tell its growth.`,
    ...(failure === undefined ? [] : ["", `It ended early: ${failure}.`]),
    "",
    "| minutes | least memory, MB | answers so far |",
    "| --- | --- | --- |",
    ...rows.flat(),
    "",
  ].join("\n");
}
