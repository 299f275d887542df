import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { neverEnding } from "../../packages/inference/test/vllm/start-vllm.ts";
import { MeasuredTable } from "../../packages/inference/test/vllm/report.ts";
import type { Row } from "../../packages/inference/test/vllm/report.ts";
import { measure } from "./client.ts";
import type { Measured, Shape } from "./client.ts";
import { layouts, startEngine, startParley } from "./subjects.ts";
import { writeHeavyModel } from "./weights.ts";

/**
 * Tokens per second and time to first token of chat completions, through Parley ÷ straight to the engine, by vLLM's own
 * load generator, in turns in one run. `WEIGHTS` names a folder to serve instead of the made-up weights.
 */

const rounds = Number(process.env["ROUNDS"] ?? 3);
const weights = process.env["WEIGHTS"];
/** Many at a time for the throughput; one at a time for the first token, which would wait for others' steps otherwise. */
const shapes = [
  { name: "8 at a time", concurrency: 8, prompts: 32, inputTokens: 60, outputTokens: 64 },
  { name: "1 at a time", concurrency: 1, prompts: 30, inputTokens: 60, outputTokens: 8 },
] as const;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const spread = (values: readonly number[], digits: number): string =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
const model = weights ?? writeHeavyModel(join(folder, "model"));
const table = new MeasuredTable("bench");
for (const layout of layouts) await measureAll(layout);
table.print();
rmSync(folder, { recursive: true, force: true });

async function measureAll(layout: (typeof layouts)[number]): Promise<void> {
  await using engine = await startEngine({ weights: model, isMadeUp: weights === undefined, layout, folder });
  await using parley = await startParley({ url: engine.url, tokenizer: model, folder });
  for (const shape of shapes) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // What comes first in a round changes, in case the machine does.
      const pair = await measurePair(engine.url, parley.url, shape, round % 2 === 0);
      console.log(JSON.stringify({ layout, shape: shape.name, round, ...pair }));
      pairs.push(pair);
    }
    table.add(rowOf(layout, shape, pairs));
  }
}

interface Pair {
  readonly direct: Measured;
  readonly through: Measured;
}

async function measurePair(engine: string, parley: string, shape: Shape, isDirectFirst: boolean): Promise<Pair> {
  const load = { model, extraBody: { logit_bias: neverEnding } };
  const first = await measure(isDirectFirst ? engine : parley, shape, load);
  const second = await measure(isDirectFirst ? parley : engine, shape, load);
  return isDirectFirst ? { direct: first, through: second } : { direct: second, through: first };
}

function rowOf(layout: string, shape: Shape & { readonly name: string }, pairs: readonly Pair[]): Row {
  const { name, inputTokens, outputTokens, prompts } = shape;
  const ratios = pairs.map(({ direct, through }) => through.output_throughput / direct.output_throughput);
  const more = pairs.map(({ direct, through }) => through.median_ttft_ms - direct.median_ttft_ms);
  const answered = pairs.reduce((sum, { direct, through }) => sum + direct.completed + through.completed, 0);
  return {
    processors: layout,
    requests: `${name}, ${inputTokens} tokens in, ${outputTokens} out`,
    rounds,
    "direct, tokens/s": spread(
      pairs.map(({ direct }) => direct.output_throughput),
      1,
    ),
    "through ÷ direct": spread(ratios, 3),
    "direct, ms to first token": spread(
      pairs.map(({ direct }) => direct.median_ttft_ms),
      1,
    ),
    "through, ms more": spread(more, 2),
    failed: 2 * prompts * rounds - answered,
  };
}
