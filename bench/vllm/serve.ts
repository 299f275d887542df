import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { neverEnding } from "../../packages/inference/test/vllm/start-vllm.ts";
import { MeasuredTable } from "../../packages/inference/test/vllm/report.ts";
import { measure } from "./client.ts";
import type { Measured } from "./client.ts";
import { startEngine, startParley } from "./subjects.ts";
import { writeHeavyModel } from "./weights.ts";

/**
 * Tokens per second and time to first token of chat completions, through Parley ÷ straight to the engine, by vLLM's own
 * load generator, in turns in one run. Where there are two processors, the engine has the first and everything else the
 * other one, both ways alike. `WEIGHTS` names a folder to serve instead of the made-up weights.
 */

const rounds = Number(process.env["ROUNDS"] ?? 5);
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
const load = { model, extraBody: { logit_bias: neverEnding } };
await using engine = await startEngine({ weights: model, isMadeUp: weights === undefined, folder });
await using parley = await startParley({ url: engine.url, tokenizer: model, folder });
const table = new MeasuredTable("bench");
for (const shape of shapes) {
  const pairs: { readonly direct: Measured; readonly through: Measured }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // What comes first in a round changes, in case the machine does.
    const ways = [engine.url, parley.url];
    const measured = new Map<string, Measured>();
    for (const url of round % 2 === 0 ? ways : ways.toReversed()) measured.set(url, await measure(url, shape, load));
    const [direct, through] = ways.map((url) => measured.get(url));
    if (!direct || !through) throw new Error("a way was not measured");
    console.log(JSON.stringify({ shape: shape.name, round, direct, through }));
    pairs.push({ direct, through });
  }
  table.add({
    shape: `${shape.name}, ${shape.inputTokens} tokens in, ${shape.outputTokens} out`,
    rounds,
    "direct tokens/s": spread(
      pairs.map(({ direct }) => direct.output_throughput),
      1,
    ),
    "through ÷ direct": spread(
      pairs.map(({ direct, through }) => through.output_throughput / direct.output_throughput),
      3,
    ),
    "direct ms to first token": spread(
      pairs.map(({ direct }) => direct.median_ttft_ms),
      1,
    ),
    "through, ms more": spread(
      pairs.map(({ direct, through }) => through.median_ttft_ms - direct.median_ttft_ms),
      2,
    ),
    failed: pairs.reduce(
      (sum, { direct, through }) => sum + 2 * shape.prompts - direct.completed - through.completed,
      0,
    ),
  });
}
table.print();
rmSync(folder, { recursive: true, force: true });
