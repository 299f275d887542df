import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { dag, ExecError } from "@dagger.io/dagger";
import type { Container } from "@dagger.io/dagger";
import { logFileOf } from "../log.ts";
import { commandOf, lastLines, outcomeOf, skipped } from "../outcome.ts";
import type { Ended } from "../outcome.ts";
import type { RunStep } from "../schedule.ts";
import { archiveOf, sharedInputs } from "../step.ts";
import type { Step } from "../step.ts";
import { containerOf, sourceOf } from "./images.ts";
import { bindService, withSecrets, withVariables } from "./services.ts";

const reportFile = "/tmp/report.json";
/** Exit code of `timeout` when it had to end a command. */
const wasLate = 124;

/** Containers and outputs of finished steps, for the steps that need them. */
type Left = Map<string, { readonly container: Container; readonly outputs: readonly string[] }>;

/** Runs steps in containers, each with its inputs, the outputs of earlier steps that it needs, and its services. */
export function containerRunner(stop: AbortSignal): RunStep {
  const left: Left = new Map();
  return async (step) => {
    if (stop.aborted) return skipped("the run was stopped");
    try {
      const container = prepare(step, left).withExec(argumentsOf(step));
      left.set(step.name, { container, outputs: step.outputs });
      return outcomeOf(step, await endOf(step, container));
    } catch (error) {
      return { passed: 0, failed: 1, skipped: [], trouble: lastLines(String(error), 40) };
    }
  };
}

async function endOf(step: Step, container: Container): Promise<Ended> {
  const { counts, timeLimitSeconds } = step;
  const { exitCode, stdout, stderr } = await resultOf(container);
  const printed = `${stdout}${stderr}`;
  const output = exitCode === wasLate ? `${printed}\nIt ran past its limit of ${timeLimitSeconds} s.` : printed;
  writeLog(step, output);
  const hasReport = counts === "vitest" && exitCode === 0;
  return { exitCode, output, report: hasReport ? await container.file(reportFile).contents() : "" };
}

type Result = Pick<ExecError, "exitCode" | "stdout" | "stderr">;

/** Returns the result of a command. Dagger reports a failure as an error without files, and does not cache it. */
async function resultOf(container: Container): Promise<Result> {
  try {
    return { exitCode: await container.exitCode(), stdout: await container.stdout(), stderr: await container.stderr() };
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    const { exitCode, stdout, stderr, message } = error;
    // If the container did not start, its command printed nothing.
    return { exitCode, stdout, stderr: stdout + stderr === "" ? message : stderr };
  }
}

function writeLog(step: Step, output: string): void {
  const file = logFileOf("dagger", step);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, output);
}

/** Wraps the command in `timeout`, because nothing outside of the container can end a single command. */
export const argumentsOf = (step: Step): string[] => [
  "timeout",
  "-k",
  "10",
  String(step.timeLimitSeconds),
  ...commandOf(step, reportFile),
];

function prepare(step: Step, left: Left): Container {
  const source = sourceOf([...sharedInputs, ...step.inputs]);
  const own = withSecrets(
    withVariables(containerOf(step.image).withDirectory(".", source), step.environment),
    step.secrets,
  );
  const served = step.services.reduce((one, name) => bindService(one, name, step.inputs), own);
  const archived = step.archives.reduce(
    (one, name) => one.withFile(archiveOf(name), containerOf(name).asTarball()),
    served,
  );
  const ready = step.outputs.reduce((one, path) => one.withDirectory(dirname(path), dag.directory()), archived);
  const found = step.needs.flatMap((need) => left.get(need) ?? []);
  return found.reduce(
    (one, { container, outputs }) => outputs.reduce((two, path) => two.withFile(path, container.file(path)), one),
    ready,
  );
}
