import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { miniFolder } from "@parley/inference/testing";
import { findVllm } from "@parley/inference/vllm";
import { MeasuredTable, installFolder, neverEnding } from "@parley/inference/testing/vllm";
import type { Row } from "@parley/inference/testing/vllm";
import { measure } from "./client.ts";
import type { Measured, Shape } from "./client.ts";
import { startCopier, startEngine, startParley, startVllmRouter } from "./subjects.ts";
import { writeHeavyModel } from "./weights.ts";

/**
 * Measures tokens per second and time to first token of chat completions with vLLM's own load generator, as ratios: through
 * Parley ÷ straight to the engine, in turns in one run. With one request at a time, it also measures two proxies: the smallest
 * possible one in Node, and `vllm-router` if `PARLEY_TEST_ROUTER` names it. `WEIGHTS` names another folder to serve, and
 * `ROUNDS` is the number of rounds. With `ENGINES=2`, two engines share the hardware, vllm-router stands before them, and
 * Parley is compared with that router: once in front of it, and once with the addresses of the engines.
 */

const rounds = Number(process.env["ROUNDS"] ?? 3);
const engineCount = Number(process.env["ENGINES"] ?? 1);
const ownWeights = process.env["WEIGHTS"];
const { isCpu } = await findVllm(undefined, installFolder);
/** Throughput uses concurrent requests. Time to first token uses one at a time, because it would otherwise include waiting for others. */
const shapes = [
  { concurrency: 8, prompts: 32, inputTokens: 60, outputTokens: 64, hasOthers: false },
  { concurrency: 1, prompts: 30, inputTokens: 60, outputTokens: 8, hasOthers: true },
] as const;
/** A production server is warm. A Node program adds about twice as much time in its first 200 requests as after 600. */
const warmUp = { concurrency: 4, prompts: 600, inputTokens: 60, outputTokens: 2 };

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const spread = (values: readonly number[], digits: number): string =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

interface Model {
  readonly name: string;
  readonly weights: string;
  readonly isMadeUp: boolean;
  /** Multiplies the prompts of each shape, because a GPU answers them much faster than a processor. */
  readonly times: number;
}

const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
const models: readonly Model[] =
  ownWeights === undefined
    ? [
        {
          name: "heavy",
          weights: writeHeavyModel(join(folder, "model"), isCpu ? "cpu" : "gpu"),
          isMadeUp: true,
          times: isCpu ? 1 : 2,
        },
        // Its first token comes early enough that one added millisecond shows.
        { name: "light", weights: miniFolder, isMadeUp: false, times: isCpu ? 1 : 16 },
      ]
    : [{ name: ownWeights, weights: resolve(ownWeights), isMadeUp: false, times: isCpu ? 1 : 2 }];
const table = new MeasuredTable("bench");
for (const model of models) await measureModel(model);
table.print();
rmSync(folder, { recursive: true, force: true });

/** A way to the engine. The first path is the engine itself. */
interface Path {
  readonly name: string;
  readonly url: string;
}

async function measureModel({ name, weights, isMadeUp, times }: Model): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const urls: string[] = [];
  // One after the other: vLLM measures the free memory of a GPU while it starts.
  for (let index = 0; index < engineCount; index += 1) {
    urls.push(opened.use(await startEngine({ weights, isMadeUp, folder, count: engineCount, index })).url);
  }
  const { main, others } = await (urls.length > 1 ? openCluster : openSingle)(urls, weights, opened);
  const load = { model: weights, extraBody: { logit_bias: neverEnding } };
  for (const { url } of [...main, ...others]) await measure(url, warmUp, load);
  for (const shape of shapes) {
    const paths = shape.hasOthers ? [...main, ...others] : main;
    const concurrency = shape.concurrency === 1 ? 1 : shape.concurrency * engineCount;
    const wanted = { ...shape, concurrency, prompts: shape.prompts * times * engineCount };
    const seen = await measureInTurns(paths, (url) => measure(url, wanted, load));
    const [[, direct] = [], ...through] = seen;
    for (const [path, measured] of through) table.add(rowOf(name, wanted, path.name, direct ?? [], measured));
  }
}

interface Paths {
  /** The first is what the others are compared with. */
  readonly main: readonly Path[];
  /** Are measured with one request at a time only. */
  readonly others: readonly Path[];
}

async function openSingle(urls: readonly string[], tokenizer: string, opened: AsyncDisposableStack): Promise<Paths> {
  const [engine = ""] = urls;
  const parley = opened.use(await startParley({ urls, tokenizer, folder: join(folder, "parley") }));
  const copier = opened.use(await startCopier(engine));
  const main = [
    { name: "direct", url: engine },
    { name: "Parley", url: parley.url },
  ];
  const others = [{ name: "a copier of bytes in Node", url: copier.url }];
  if (process.env["PARLEY_TEST_ROUTER"] === undefined) return { main, others };
  const router = opened.use(await startVllmRouter(urls));
  return { main, others: [...others, { name: "vllm-router", url: router.url }] };
}

async function openCluster(urls: readonly string[], tokenizer: string, opened: AsyncDisposableStack): Promise<Paths> {
  const router = opened.use(await startVllmRouter(urls));
  const before = { urls: [router.url], front: "vllm-router", tokenizer, folder: join(folder, "front") } as const;
  const front = opened.use(await startParley(before));
  const own = opened.use(await startParley({ urls, tokenizer, folder: join(folder, "urls") }));
  const main = [
    { name: "vllm-router", url: router.url },
    { name: "Parley, then vllm-router", url: front.url },
    { name: "Parley alone, with both addresses", url: own.url },
  ];
  return { main, others: [] };
}

async function measureInTurns(
  paths: readonly Path[],
  measureOne: (url: string) => Promise<Measured>,
): Promise<Map<Path, Measured[]>> {
  const seen = new Map<Path, Measured[]>(paths.map((path) => [path, []]));
  for (let round = 0; round < rounds; round += 1) {
    // The order rotates, so that a drift of the machine does not favour one path.
    const first = round % paths.length;
    for (const path of [...paths.slice(first), ...paths.slice(0, first)]) {
      const measured = await measureOne(path.url);
      console.log(JSON.stringify({ round, path: path.name, ...measured }));
      seen.get(path)?.push(measured);
    }
  }
  return seen;
}

/** Makes a row of the report. Each ratio and difference compares measurements of the same round. */
function rowOf(
  model: string,
  { concurrency, inputTokens, outputTokens }: Shape,
  path: string,
  direct: readonly Measured[],
  through: readonly Measured[],
): Row {
  const compare = (measure: (one: Measured, other: Measured) => number): number[] =>
    through.flatMap((one, round) => (direct[round] ? [measure(one, direct[round])] : []));
  return {
    model: engineCount > 1 ? `${model}, ${engineCount} engines` : model,
    requests: `${concurrency} at a time, ${inputTokens} tokens in, ${outputTokens} out`,
    rounds,
    through: path,
    "direct, tokens/s": spread(
      direct.map((one) => one.output_throughput),
      1,
    ),
    "through ÷ direct": spread(
      compare((one, other) => one.output_throughput / other.output_throughput),
      3,
    ),
    "direct, ms to first token": spread(
      direct.map((one) => one.median_ttft_ms),
      1,
    ),
    "through, ms more": spread(
      compare((one, other) => one.median_ttft_ms - other.median_ttft_ms),
      2,
    ),
  };
}
