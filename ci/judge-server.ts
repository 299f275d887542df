import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { exitCodeOf } from "@parley/common/exit-code";
import { untilReady } from "./until-ready.ts";

// Judges the server that runs next to this step, at the levels that its own list of models claims. The server must break no
// clause, and may leave open only those that need a scripted engine.

const url = process.env["PARLEY_URL"] ?? "";
const key = process.env["PARLEY_API_KEY"] ?? "";
const reportFolder = ".parley/ci/conformance";

/** The members of a model object that decide which levels can be judged. */
interface Model {
  readonly supported_sampling_parameters: readonly string[];
  readonly supported_features: readonly string[];
}

/** The part of the judge's report that is read. */
interface Report {
  readonly clauses: readonly {
    readonly id: string;
    readonly keyword: string;
    readonly state: string;
    readonly note?: string;
  }[];
}

async function listModels(): Promise<readonly Model[]> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { readonly data: readonly Model[] }).data; // the contract's listing
}

async function claimedLevels(): Promise<string[]> {
  const data = await listModels();
  const claims = (name: string): boolean => data.every((model) => model.supported_features.includes(name));
  return [
    "core",
    "stream",
    ...(data.every((model) => model.supported_sampling_parameters.length > 0) ? ["sampling"] : []),
    ...(claims("tools") ? ["tools"] : []),
    ...(claims("structured_outputs") ? ["structured"] : []),
    ...(claims("logprobs") ? ["logprobs"] : []),
  ];
}

/** @returns the judge's exit code: 0 is conformant, 3 is open, anything else is broken */
function judge(levels: readonly string[]): Promise<number> {
  const flags = {
    "--base-url": `${url}/v1`,
    "--api-key-env": "PARLEY_API_KEY",
    "--level": levels.join(","),
    "--report": reportFolder,
  };
  // Tries every case, because a sample would find different faults in different runs.
  mkdirSync(reportFolder, { recursive: true });
  const args = ["packages/conformance/src/cli/main.ts", "run", "--exhaustive", ...Object.entries(flags).flat()];
  return exitCodeOf(spawn(process.execPath, args, { stdio: "inherit" }));
}

/**
 * Recognises an open clause that needs an engine that fails on demand, an answer that a demonstration model did not end, or a
 * model that follows a system message.
 */
const isOfTheModel = (note: string): boolean =>
  note.startsWith("it needs a scripted engine") ||
  note.endsWith('finished with "length"') ||
  note.startsWith("this model answers a system message like a user message");

/** Lists the clauses that were left open without a good reason. */
function surprises(): string[] {
  const { clauses } = JSON.parse(readFileSync(`${reportFolder}/report.json`, "utf8")) as Report; // the judge wrote it
  return clauses
    .filter(
      ({ state, keyword, note = "" }) =>
        ["UNTESTABLE", "ERROR"].includes(state) && keyword === "MUST" && !isOfTheModel(note),
    )
    .map(({ id, note }) => `${id} is open: ${note}`);
}

// A model lists its abilities only when it is ready, and the server itself needs only one ready model.
await untilReady(url, key);
const code = await judge(await claimedLevels());
const surprising = surprises();
for (const one of surprising) process.stdout.write(`${one}\n`);
process.exitCode = [0, 3].includes(code) && surprising.length === 0 ? 0 : 1;
