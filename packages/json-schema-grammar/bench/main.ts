import { createWriteStream, mkdirSync, readFileSync, readdirSync } from "node:fs";
import type { WriteStream } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ReportCommand, existingPath, wholeNumber } from "@parley/common/flag-values";
import type { Judgement } from "./judge-case.ts";
import { JudgeProcess } from "./judge-process.ts";
import { measureCompiling } from "./measure-compiling.ts";
import { measureMasks } from "./measure-masks.ts";
import { dataSetOf } from "./read-case.ts";
import { changes, report, sideBySide } from "./report.ts";

interface Flags {
  readonly data?: string;
  readonly dataset?: string;
  readonly only?: string;
  readonly limit?: number;
  readonly jobs: number;
  readonly timeLimit: number;
  readonly out: string;
  readonly compare?: string;
  readonly compile?: true;
  readonly masks?: string;
  readonly beside?: readonly string[];
}

const program = new ReportCommand("schemas");
const flags = program
  .description(
    "Judges the compiler of JSON Schemas with MaskBench (github.com/guidance-ai/jsonschemabench, folder maskbench/data): " +
      "which schemas it accepts, and whether llama.cpp under the compiled grammar accepts the valid instances and no other.",
  )
  .option("--data <folder>", "the folder with the benchmark's JSON files", existingPath)
  .option("--dataset <name>", "only this data set, such as Github_easy")
  .option("--only <text>", "only schemas whose id contains this")
  .option("--limit <count>", "only this number of schemas, evenly spread", wholeNumber)
  .option("--jobs <count>", "how many are judged at once", wholeNumber, 1)
  .option("--time-limit <seconds>", "for one schema and its instances", wholeNumber, 60)
  .option("--out <file>", "one JSON result a line", ".parley/schemas/results.jsonl")
  .option("--compare <file>", "list the verdicts that differ from those of an earlier --out", existingPath)
  .option("--compile", "instead, time the compiler alone, each schema once in one process")
  .option("--masks <model>", "instead, time llama.cpp's token masks with the vocabulary of a GGUF file", existingPath)
  .option("--beside <files...>", "instead, compare the result files of several runs, other libraries' included")
  .parse()
  .opts<Flags>();

const missingData = (): never => program.error("error: --data is missing: the folder with the benchmark's files");

/** Chooses every k-th file. Each data set keeps its share. */
function choose({ data = missingData(), dataset, only = "", limit = Number.POSITIVE_INFINITY }: Flags): string[] {
  const names = readdirSync(data)
    .filter((name) => name.endsWith(".json") && name.includes(only))
    .filter((name) => dataset === undefined || dataSetOf(name) === dataset)
    .toSorted();
  if (names.length === 0) program.error(`error: no schema in ${data} fits --dataset and --only`);
  const step = Math.max(1, names.length / limit);
  const count = Math.min(limit, names.length);
  return Array.from({ length: count }, (_, index) => join(data, names[Math.floor(index * step)] ?? ""));
}

async function judgeAll(paths: readonly string[], out: WriteStream, stop: AbortSignal): Promise<Judgement[]> {
  const done: Judgement[] = [];
  const left = paths.values();
  const stopped = new Promise<undefined>((resolve) => {
    stop.addEventListener("abort", () => resolve(undefined));
  });
  const work = async (): Promise<void> => {
    await using judge = new JudgeProcess(flags.timeLimit * 1000);
    for (const path of left) {
      const judgement = await Promise.race([judge.judge(path), stopped]);
      if (!judgement) return;
      done.push(judgement);
      out.write(`${JSON.stringify(judgement)}\n`);
      if (done.length % 100 === 0) process.stderr.write(`${done.length} of ${paths.length}\n`);
    }
  };
  await Promise.all(Array.from({ length: flags.jobs }, work));
  return done;
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const text = await run();
process.stdout.write(`${text}\n`, () => process.exit());

async function run(): Promise<string> {
  if (flags.beside)
    return sideBySide(new Map(flags.beside.map((file) => [basename(file, ".jsonl"), readResults(file)])));
  if (flags.compile === true) return measureCompiling(choose(flags), stop.signal);
  return flags.masks === undefined ? judge() : measureMasks(choose(flags), flags.masks, stop.signal);
}

async function judge(): Promise<string> {
  // `--compare` may name the file that this run writes.
  const before = flags.compare === undefined ? undefined : readResults(flags.compare);
  mkdirSync(dirname(flags.out), { recursive: true });
  const out = createWriteStream(flags.out);
  const done = await judgeAll(choose(flags), out, stop.signal);
  out.end();
  return [report(done), ...(before ? [changes(before, done)] : [])].join("\n");
}

function readResults(file: string): Judgement[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Judgement])); // an earlier run wrote it
}
