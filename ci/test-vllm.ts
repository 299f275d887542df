import { spawn } from "node:child_process";
import { freemem, homedir } from "node:os";
import { join } from "node:path";
import { exitCodeOf } from "@parley/common/exit-code";
import { MissingForVllmError, installVllm } from "@parley/inference/vllm";
import { didNotRun } from "./step.ts";

/**
 * The tests against a real vLLM; arguments go to vitest. They need five gigabytes that outlive the checkout, unless an
 * existing environment is named. A missing requirement of this machine is reported, and does not count as a failure.
 */
const neededBytes = 4e9;
const vitest = ["run", "--config", "vitest.vllm.config.ts", ...process.argv.slice(2)];
try {
  await prepare(process.env["PARLEY_TEST_VLLM"]);
  process.exitCode = await exitCodeOf(
    spawn(join(import.meta.dirname, "../node_modules/.bin/vitest"), vitest, { stdio: "inherit" }),
  );
} catch (error) {
  if (!(error instanceof MissingForVllmError)) throw error;
  process.stdout.write(`the tests against a real vLLM did not run: ${error.message}\n`);
  process.exitCode = didNotRun;
}

async function prepare(named: string | undefined): Promise<void> {
  if (freemem() < neededBytes) throw new MissingForVllmError(`they take ${neededBytes / 1e9} GB of free memory.`);
  if (named !== undefined) return void process.stdout.write(`The tests use ${named}.\n`);
  const folder = join(homedir(), ".cache/parley/vllm");
  const log = (line: string): void => void process.stdout.write(`${line}\n`);
  await installVllm({ folder, python: process.env["PARLEY_TEST_PYTHON"], log });
}
