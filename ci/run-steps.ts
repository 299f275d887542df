import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { didNotRun, steps } from "./steps.ts";
import type { Step } from "./steps.ts";

/** Runs a suite's steps on this machine, all of them, and closes with one line that sums them up. */

interface Count {
  readonly passed: number;
  readonly failed: number;
  /** Steps that could not run here. */
  readonly notRun: number;
}

const root = fileURLToPath(new URL("..", import.meta.url));

async function runSuite(suite: string, extraArgs: readonly string[]): Promise<Count> {
  const chosen = steps.filter((step) => isAskedFor(step, suite, extraArgs));
  if (chosen.length === 0) throw new Error(`there is no suite "${suite}"`);
  let total: Count = { passed: 0, failed: 0, notRun: 0 };
  for (const step of chosen) {
    const startedAt = Date.now();
    const count = await runStep(step, extraArgs);
    total = {
      passed: total.passed + count.passed,
      failed: total.failed + count.failed,
      notRun: total.notRun + count.notRun,
    };
    const outcome = count.notRun > 0 ? "not run, see above" : describe(count);
    process.stdout.write(`== ${step.name}: ${outcome}, ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
  }
  return total;
}

/** Arguments narrow the tests down: a step that has a suite of its own gets its arguments there. */
function isAskedFor({ suites }: Step, suite: string, extraArgs: readonly string[]): boolean {
  const isElsewhere = suite === "test" && extraArgs.length > 0 && suites.includes("vllm");
  return suites.some((one) => one === suite) && !isElsewhere;
}

const describe = ({ passed, failed }: Count): string => `${passed} passed, ${failed} failed`;

async function runStep(step: Step, extraArgs: readonly string[]): Promise<Count> {
  process.stdout.write(`== ${step.name}\n`);
  const [program, ...args] = step.command;
  if (step.counts === "one") {
    const exitCode = await execute(program, args);
    const isNotRun = exitCode === didNotRun;
    return { passed: Number(exitCode === 0), failed: Number(exitCode !== 0 && !isNotRun), notRun: Number(isNotRun) };
  }
  const folder = await mkdtemp(join(tmpdir(), "parley-report-"));
  try {
    const report = join(folder, "report.json");
    const exitCode = await execute(program, [
      ...args,
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...extraArgs,
    ]);
    return exitCode === didNotRun ? { passed: 0, failed: 0, notRun: 1 } : await readReport(report, exitCode);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A run that broke outside its tests has failed, too. */
async function readReport(file: string, exitCode: number): Promise<Count> {
  const text = await readFile(file, "utf8").catch(() => "{}");
  const report = JSON.parse(text) as { numPassedTests?: number; numFailedTests?: number }; // vitest's own format
  const passed = report.numPassedTests ?? 0;
  const failed = report.numFailedTests ?? 0;
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed, notRun: 0 };
}

function execute(program: string, args: readonly string[]): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // Where there is no package that brings Node, the one that runs this is the one that is meant.
  const file = program === "node" ? process.execPath : join(root, "node_modules/.bin", program);
  const child = spawn(file, args, {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: "off",
      PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`,
    },
  });
  child.on("error", reject);
  child.on("exit", (code) => resolve(code ?? 1));
  return promise;
}

const [suite = "test", ...extraArgs] = process.argv.slice(2);
const total = await runSuite(suite, extraArgs);
if (total.notRun > 0) process.stdout.write(`${total.notRun} steps were not run, see above\n`);
process.stdout.write(`${describe(total)}\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
