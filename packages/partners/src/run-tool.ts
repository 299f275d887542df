import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyRow, programsFolder } from "./results.ts";
import type { Row, Stage } from "./results.ts";
import { runAll, runCommand } from "./run-command.ts";
import type { Environment } from "./run-command.ts";
import type { Target } from "./start-target.ts";
import type { Tool } from "./tool.ts";

/** A column of the matrix that the program decides. */
type Topic = Exclude<Stage, "generate" | "compile">;

/** A task for the program, and the output that it has to print. */
interface Question {
  readonly topic: Topic;
  readonly args: readonly string[];
  readonly url: keyof Pick<Target, "url" | "truncatingUrl" | "growingUrl">;
  /** The expected lines. A `*` stands for any text. */
  readonly output: readonly string[];
  /** True if the program has to end with an error. */
  readonly isFailure: boolean;
}

const question = (topic: Topic, args: readonly string[], output: readonly string[], more: Partial<Question> = {}) =>
  ({ topic, args, output, url: "url", isFailure: false, ...more }) satisfies Question;

const questions: readonly Question[] = [
  question("answer", ["models"], ["vendor/model-1", "vendor/model-1-mini"]),
  question("answer", ["answer", "script:answer"], ['tool_calls {"city":"Oslo"}', 'get_weather {"city":"Oslo"}']),
  question("error", ["error"], ["404 invalid_request_error model_not_found"]),
  question("stream", ["stream", "script:whole"], ["one", "two", "three", "stop"]),
  question("stream", ["stream", "script:broken"], ["one", "stream error: upstream_error"], { isFailure: true }),
  question(
    "stream",
    ["stream", "script:whole"],
    ["one", "two", "three", "stop", "truncated: the stream ended without [DONE]"],
    { url: "truncatingUrl", isFailure: true },
  ),
  question("growth", ["models"], ["vendor/model-1", "vendor/model-1-mini"], { url: "growingUrl" }),
  question("growth", ["answer", "script:answer"], ['* {"city":"Oslo"}', 'get_weather {"city":"Oslo"}'], {
    url: "growingUrl",
  }),
  question("growth", ["error"], ["404 * *"], { url: "growingUrl" }),
  question("growth", ["stream", "script:whole"], ["one", "two", "three", "*"], { url: "growingUrl" }),
];

export interface Outcome {
  readonly row: Row;
  /** The output of the failed commands. */
  readonly failures: readonly string[];
  /** Documented limits of the tool that the runs no longer show. */
  readonly lifted: readonly string[];
}

/** A folder outside of the tree, so that a program can use only the packages that it installs. */
const scratch = join(tmpdir(), "parley-partners");

/** Generates the client, compiles it with its program, asks the program every question, and checks the tool's limits. */
export async function runTool(tool: Tool, target: Target): Promise<Outcome> {
  const folder = await prepareFolder(tool, target.url);
  const environment = { VERSION: tool.version, PARLEY_KEY: target.key };
  const row = { ...emptyRow };
  const failures: string[] = [];
  for (const stage of ["generate", "compile"] as const) {
    const failure = failures.length > 0 ? undefined : await runAll(tool[stage], folder, environment);
    if (failures.length === 0) row[stage] = failure === undefined ? "passed" : "failed";
    if (failure !== undefined) failures.push(failure);
  }
  for (const question of failures.length > 0 ? [] : questions) {
    const failure = await ask(tool, question, folder, { ...environment, PARLEY_URL: target[question.url] });
    if (failure !== undefined) failures.push(failure);
    if (row[question.topic] !== "failed") row[question.topic] = failure === undefined ? "passed" : "failed";
  }
  return { row, failures, lifted: await findLifted(tool, folder, environment) };
}

/** Puts the program and the document of the server into a folder. */
async function prepareFolder({ name, document }: Tool, server: string): Promise<string> {
  const folder = join(scratch, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(programsFolder, name), folder, { recursive: true });
  const response = await fetch(`${server}/${document}`);
  if (!response.ok) throw new Error(`The server answers ${response.status} for ${document}.`);
  writeFileSync(join(folder, "openapi.json"), await response.text());
  return folder;
}

/** Runs the program with one question. @returns the problem with its output, if any */
async function ask(tool: Tool, question: Question, folder: string, environment: Environment) {
  const command = `${tool.run} ${question.args.join(" ")}`;
  const { exitCode, printed, output } = await runCommand(command, folder, environment);
  if (matches(printed, question.output) && (exitCode !== 0) === question.isFailure) return undefined;
  return `${question.topic}: ${command}\nexit code ${exitCode}, printed:\n${output}\nwanted:\n${question.output.join("\n")}`;
}

function matches(printed: string, wanted: readonly string[]): boolean {
  const pattern = wanted
    .map((line) =>
      line
        .split("*")
        .map((part) => RegExp.escape(part))
        .join(".*"),
    )
    .join("\n");
  return new RegExp(`^${pattern}$`).test(printed.trim());
}

async function findLifted({ limits = [] }: Tool, folder: string, environment: Environment) {
  const lifted: string[] = [];
  for (const { commands, prints } of limits) {
    const failure = await runAll(commands, folder, environment);
    if (failure?.includes(prints) !== true) lifted.push(`no limit any more: ${prints}\n${failure ?? ""}`);
  }
  return lifted;
}
