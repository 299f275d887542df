import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { defaultTimings, neutralSampling } from "@parley/inference";
import { startEmbeddedEngine } from "@parley/inference/embedded";
import type { ChildEngine, EngineRequest } from "@parley/inference";
import { ReportCommand, wholeNumber } from "@parley/common/flag-values";

/**
 * Measures the embedded engine on the demonstration models: memory at rest, the speed of reading a prompt, and the time of a small
 * chat alone, next to a long prompt of another key, and next to three long prompts with a seed. Times are wall times on
 * this machine, printed as `median (least to most)` over all rounds.
 */
const {
  rounds,
  prompt: promptTokens,
  beside: besideTokens,
} = new ReportCommand("bench:embedded")
  .description(
    "Measures the embedded engine on the demonstration models: memory at rest, how fast a prompt is read, and how long a small " +
      "chat takes alone and beside long prompts of another key.",
  )
  .option("--rounds <count>", "how often each is measured", wholeNumber, 5)
  .option("--prompt <tokens>", "the prompt whose reading is timed", wholeNumber, 8000)
  .option("--beside <tokens>", "the prompt of the other key", wholeNumber, 30_000)
  .parse()
  .opts<{ readonly rounds: number; readonly prompt: number; readonly beside: number }>();

interface Asked {
  readonly key: string;
  /** One word is about one token. */
  readonly words: number;
  readonly seed?: string;
  readonly maxTokens: number;
}

function requestOf({ key, words, seed }: Asked): EngineRequest {
  return {
    messages: [{ role: "user", content: `Say something.${" gas".repeat(words)}` }],
    tools: [],
    toolChoice: "none",
    parallelToolCalls: true,
    format: { type: "text" },
    shownSchema: undefined,
    isReasoning: false,
    n: 1,
    seed,
    sampling: { ...neutralSampling, logit_bias: {} },
    stop: [],
    origin: { key },
    topLogprobs: undefined,
  };
}

/** Milliseconds until the answer is complete. */
async function time(engine: ChildEngine, asked: Asked, signal = AbortSignal.timeout(300_000)): Promise<number> {
  const begun = performance.now();
  const prompt = await engine.prepare(requestOf(asked), signal);
  const grammars = { contentGrammar: undefined, toolGrammar: undefined, enforcedTools: [] };
  for await (const event of prompt.stream({ maxTokens: asked.maxTokens, grammars })) void event;
  return performance.now() - begun;
}

async function repeat(measure: (round: number) => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await measure(round));
  return values;
}

const small = (engine: ChildEngine): Promise<number> => time(engine, { key: "neighbour", words: 0, maxTokens: 24 });

/** Measures the small chat while long prompts are being read; those are aborted afterwards. */
async function measureBeside(engine: ChildEngine, seeds: readonly (string | undefined)[]): Promise<number[]> {
  const end = new AbortController();
  const others = seeds.map((seed) =>
    time(engine, { key: "other", words: besideTokens, maxTokens: 16, ...(seed && { seed }) }, end.signal).catch(
      () => 0,
    ),
  );
  const progress = async (): Promise<number> => (await engine.status(AbortSignal.timeout(60_000))).progress;
  const before = await progress();
  while ((await progress()) === before) await wait(20);
  const values = await repeat(() => small(engine));
  end.abort();
  await Promise.all(others);
  return values;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const show = (values: readonly number[], unit: string): string =>
  `${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}) ${unit}`;

function memoryOf(pid: number): string {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const megabytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
  return `RSS ${megabytes("Rss").toFixed(0)} MB, PSS ${megabytes("Pss").toFixed(0)} MB`;
}

const modelFile = (name: string): string =>
  fileURLToPath(new URL(`../demo-models/${name}/${name}.bf16.gguf`, import.meta.url));

function start(name: string, runFolder: string): ChildEngine {
  return startEmbeddedEngine({
    name,
    runFolder,
    timings: defaultTimings,
    report: () => undefined,
    sampling: neutralSampling,
    weightsId: "bench",
    // The settings with which `start` runs the demonstration models.
    model: {
      file: modelFile(name),
      sha256: undefined,
      contextLength: undefined,
      kvMemoryBytes: 2 ** 29,
      threads: 1,
      promptThreads: availableParallelism(),
    },
  });
}

const runFolder = mkdtempSync(join(tmpdir(), "parley-"));
const engines = ["model-1", "model-1-mini"].map((name) => ({ name, engine: start(name, runFolder) }));
try {
  await Promise.all(engines.map(({ engine }) => engine.whenReady()));
  // A ready engine has a process.
  for (const { name, engine } of engines) console.log(`${name}: at rest ${memoryOf(engine.pid as number)}`);
  for (const { name, engine } of engines) {
    // Each reading uses a new key, because a known key reuses its prompt cache.
    const reads = await repeat((round) => time(engine, { key: `reader ${round}`, words: promptTokens, maxTokens: 1 }));
    const speeds = reads.map((ms) => (promptTokens / ms) * 1000);
    console.log(`${name}: prompt of ${promptTokens} tokens ${show(speeds, "tokens/s")}`);
    console.log(`${name}: small chat alone ${show(await repeat(() => small(engine)), "ms")}`);
    console.log(
      `${name}: beside a prompt of ${besideTokens} tokens ${show(await measureBeside(engine, [undefined]), "ms")}`,
    );
    console.log(`${name}: beside three, seeded ${show(await measureBeside(engine, ["1", "2", "3"]), "ms")}`);
    console.log(`${name}: afterwards ${memoryOf(engine.pid as number)}`);
  }
} finally {
  await Promise.all(engines.map(({ engine }) => engine.close(0)));
  rmSync(runFolder, { recursive: true, force: true });
}
