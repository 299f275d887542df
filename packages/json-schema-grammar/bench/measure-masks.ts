import { openMaskTimer } from "../testing/index.ts";
import { readCase } from "./read-case.ts";
import { quantile, table } from "./report.ts";
import { compileSchema } from "../src/index.ts";

/** Each token is timed in several rounds, because other processes share the processor's caches. */
const rounds = 3;

/** Limit per instance, because a few very long instances would otherwise be most of all tokens. */
const maxTokens = 200;

/** Times the masks of llama.cpp along the first valid instance of every schema that compiles. @returns the times as Markdown */
export async function measureMasks(paths: readonly string[], modelFile: string, stop: AbortSignal): Promise<string> {
  // Pending work of llama.cpp does not keep the process alive.
  using stack = new DisposableStack();
  stack.adopt(
    setInterval(() => undefined, 1000),
    clearInterval,
  );
  const timer = await openMaskTimer(modelFile);
  const masks: number[] = [];
  const slowest: [id: string, ms: number][] = [];
  for (const path of paths) {
    if (stop.aborted) break;
    const { id, schema, instances } = readCase(path);
    const instance = instances.find(({ isValid }) => isValid);
    const compiled = instance && compileSchema(schema);
    if (!compiled || "fault" in compiled) continue;
    const times = await bestOf(rounds, () => timer.time(compiled.grammar, instance.text, maxTokens, stop));
    masks.push(...times);
    slowest.push([id, quantile(times, 0.99)]);
    if (slowest.length % 100 === 0) process.stderr.write(`${slowest.length} schemas\n`);
  }
  const figures = [0.5, 0.9, 0.99, 1].map((share) => quantile(masks, share).toFixed(3));
  const worst = slowest.toSorted(([, a], [, b]) => b - a).slice(0, 10);
  return [
    table(
      ["schemas", "tokens", "vocabulary", `mask p50, ms of CPU, best of ${rounds}`, "p90", "p99", "max"],
      [[slowest.length, masks.length, timer.vocabularySize, ...figures]],
    ),
    table(
      ["slowest schemas", "p99, ms"],
      worst.map(([id, ms]) => [id, ms.toFixed(3)]),
    ),
  ].join("\n\n");
}

/** Measures several times. @returns the shortest time of each token */
async function bestOf(count: number, measure: () => Promise<number[]>): Promise<number[]> {
  let best = await measure();
  for (let round = 1; round < count; round += 1) {
    const times = await measure();
    best = best.map((ms, token) => Math.min(ms, times[token] ?? ms));
  }
  return best;
}
