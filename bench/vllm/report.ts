import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { findGpus, findVllm, installVllm } from "@parley/inference/vllm";
import { exitCodeOf } from "@parley/common/exit-code";
import { ReportCommand, listOf, writableFolder } from "@parley/common/flag-values";
import { writePage } from "./report-page.ts";

const root = join(import.meta.dirname, "../..");
const vitest = [join(root, "node_modules/.bin/vitest"), "run", "--config", "vitest.vllm.config.ts"] as const;

/** The tests of each part, by their files; the last one is the load generator. */
const parts = {
  contract: [...vitest, "contract.vllm", "container.vllm", "spare-slot.vllm"],
  truth: [...vitest, "truth.vllm"],
  startup: [...vitest, "startup.vllm"],
  faults: [...vitest, "faults.vllm", "own-death.vllm", "disk-full.vllm"],
  parity: [...vitest, "parity.vllm"],
  bench: [process.execPath, "bench/vllm/serve.ts"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Part = keyof typeof parts;
const partNames = Object.keys(parts) as Part[]; // an object has its keys

interface Flags {
  readonly gpu?: true;
  readonly parts: readonly Part[];
  readonly into: string;
}

const {
  gpu: isGpu = false,
  parts: wanted,
  into: folder,
} = new ReportCommand("report:vllm")
  .description(
    "Shows Parley with a real vLLM, as one page. Parts that were made before stay in it, so that a long report can be made piece by " +
      "piece. Parts that need a missing container engine or router are left out, and the page says so. Without PARLEY_TEST_VLLM, which names a virtual " +
      "environment with vLLM, one for processors is installed (5 GB, in ~/.cache/parley).",
  )
  .option("--gpu", "the vLLM that PARLEY_TEST_VLLM names is one for GPUs")
  .option(
    "--parts <names>",
    "only these, separated by commas; '' only writes the page again",
    (text) => (text === "" ? [] : listOf(partNames)(text)),
    partNames,
  )
  .option("--into <folder>", "where the parts and the page are kept", writableFolder, join(root, ".parley/vllm-report"))
  .parse()
  .opts<Flags>();
const installFolder = process.env["PARLEY_TEST_VLLM"] ?? join(homedir(), ".cache/parley/vllm");

try {
  await prepare();
  for (const part of wanted) await make(part);
  const page = await writePage({ root, folder, installFolder, parts: partNames, isGpu });
  process.stdout.write(page);
  writeFileSync(join(folder, "report.md"), page);
} catch (error) {
  process.stdout.write(`report:vllm: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** @throws if this machine cannot make the report */
async function prepare(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (process.env["PARLEY_TEST_VLLM"] === undefined) {
    if (isGpu) throw new Error("vLLM for GPUs is not ours to install: name one with PARLEY_TEST_VLLM.");
    await installVllm({ folder: installFolder, python: process.env["PARLEY_TEST_PYTHON"], log: console.log });
  }
  if (!isGpu) return;
  const { isCpu, program } = await findVllm(installFolder, installFolder);
  if (isCpu) throw new Error(`${program} is built for processors: name one for GPUs with PARLEY_TEST_VLLM.`);
  if (!(await findGpus())?.length) throw new Error("No GPU driver answers (nvidia-smi), so there is no GPU to use.");
}

async function make(part: Part): Promise<void> {
  const command = parts[part];
  const own = join(folder, part);
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${join(own, "tests.json")}`];
  const [program = "", ...args] = part === "bench" ? command : [...command, ...reporters];
  process.stdout.write(`== ${part}\n`);
  const code = await run(program, args, own);
  if (code !== 0) process.exitCode = 1;
}

function run(program: string, args: readonly string[], report: string): Promise<number> {
  const env = {
    ...process.env,
    PARLEY_TEST_VLLM: installFolder,
    PARLEY_TEST_VLLM_ALL: "1",
    PARLEY_REPORT: report,
    ...(isGpu && { PARLEY_TEST_GPU: "1" }),
  };
  return exitCodeOf(spawn(program, args, { cwd: root, stdio: "inherit", env }));
}
