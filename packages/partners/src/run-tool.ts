import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { questions } from "./questions.ts";
import type { Question } from "./questions.ts";
import { programsFolder } from "./results.ts";
import type { Row } from "./results.ts";
import type { Target } from "./start-target.ts";
import type { Tool } from "./tool.ts";

export interface Outcome {
  readonly row: Row;
  /** What was printed by the commands that failed. */
  readonly failures: readonly string[];
}

const documents = fileURLToPath(new URL("../../../docs/site/contract/", import.meta.url));
/** Outside of the tree, so that a program can use only what it installs. */
const scratch = join(tmpdir(), "parley-partners");
/** Enough for the first build of a Rust client, which compiles two hundred crates. */
const commandLimitMs = 1_200_000;

/** Generates the client, compiles it with its program, and asks the program every question. */
export async function runTool(tool: Tool, target: Target): Promise<Outcome> {
  const folder = prepareFolder(tool);
  const environment = { VERSION: tool.version, PARLEY_KEY: target.key };
  const row = { generate: "not run", compile: "not run", answer: "not run", error: "not run", stream: "not run" };
  const failures: string[] = [];
  for (const stage of ["generate", "compile"] as const) {
    const failure = await runAll(tool[stage], folder, environment);
    row[stage] = failure === undefined ? "passed" : "failed";
    if (failure !== undefined) return { row: row as Row, failures: [failure] };
  }
  for (const question of questions) {
    const failure = await ask(tool, question, folder, { ...environment, PARLEY_URL: target[question.url] });
    if (failure !== undefined) failures.push(failure);
    if (row[question.topic] !== "failed") row[question.topic] = failure === undefined ? "passed" : "failed";
  }
  return { row: row as Row, failures };
}

function prepareFolder({ name, document }: Tool): string {
  const folder = join(scratch, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(programsFolder, name), folder, { recursive: true });
  cpSync(join(documents, document), join(folder, "openapi.json"));
  return folder;
}

type Environment = Readonly<Record<string, string>>;

/** @returns what the first command that failed printed */
async function runAll(commands: readonly string[], folder: string, environment: Environment) {
  for (const command of commands) {
    const { exitCode, output } = await run(command, folder, environment);
    if (exitCode !== 0) return `${command}\n${output}`;
  }
  return undefined;
}

/** @returns what is wrong with the answer */
async function ask(tool: Tool, question: Question, folder: string, environment: Environment) {
  const command = `${tool.run} ${question.args.join(" ")}`;
  const { exitCode, printed, output } = await run(command, folder, environment);
  const wanted = question.output.join("\n");
  if (printed.trim() === wanted && (exitCode !== 0) === question.isFailure) return undefined;
  return `${command}\nexit code ${exitCode}, printed:\n${output}\nwanted:\n${wanted}`;
}

interface Ended {
  readonly exitCode: number | null;
  /** On standard output. */
  readonly printed: string;
  /** On both outputs. */
  readonly output: string;
}

function run(command: string, cwd: string, environment: Environment): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = spawn(command, { cwd, shell: true, detached: true, env: { ...process.env, ...environment } });
  // The whole group: a shell that is killed alone leaves what it started.
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), commandLimitMs);
  let printed = "";
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => {
    printed += bytes.toString();
    output += bytes.toString();
  });
  child.stderr.on("data", (bytes: Buffer) => {
    output += bytes.toString();
  });
  child.on("error", (error) => resolve({ exitCode: null, printed, output: error.message }));
  child.on("close", (exitCode) => {
    clearTimeout(timer);
    resolve({ exitCode, printed, output });
  });
  return promise;
}
