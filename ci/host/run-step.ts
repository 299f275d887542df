import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { imageOf } from "../images.ts";
import type { ImageName } from "../images.ts";
import { logFileOf } from "../log.ts";
import { commandOf, lastLines, outcomeOf, skipped } from "../outcome.ts";
import type { Ended, Outcome } from "../outcome.ts";
import { root } from "../root.ts";
import { serviceOf } from "../services.ts";
import type { Step } from "../step.ts";
import { saveImage } from "./docker.ts";
import { environmentFor, missingProgram } from "./environment.ts";
import { runToEnd } from "./processes.ts";
import { startService } from "./services.ts";

/** Runs one step on this machine together with its services, and leaves no process behind. */
export async function runOnHost(step: Step, stop: AbortSignal): Promise<Outcome> {
  if (stop.aborted) return skipped("the run was stopped");
  const missing = missingIn(step);
  if (missing !== undefined) return skipped(`it needs ${missing}, which is not on this machine`);
  const log = logFileOf("host", step);
  const limit = AbortSignal.timeout(step.timeLimitSeconds * 1000);
  try {
    return outcomeOf(step, await runWithServices(step, log, AbortSignal.any([stop, limit])));
  } catch (error) {
    const late = `It ran past its limit of ${step.timeLimitSeconds} s.`;
    const reason = limit.aborted && !stop.aborted ? late : String(error);
    return { passed: 0, failed: 1, skipped: [], trouble: `${lastLines(readIfThere(log), 40)}\n${reason}` };
  }
}

/** Lists the images of a step, its services and its archives. */
const imagesOf = ({ image, services, archives }: Step): ImageName[] => [
  ...new Set([image, ...services.map((name) => serviceOf(name).image), ...archives]),
];

const missingIn = (step: Step): string | undefined =>
  imagesOf(step)
    .map(missingProgram)
    .find((one) => one !== undefined);

async function runWithServices(step: Step, log: string, stop: AbortSignal): Promise<Ended> {
  const report = `${log}.json`;
  for (const path of [log, report, ...step.outputs.map((output) => join(root, output))]) {
    rmSync(path, { force: true });
    mkdirSync(dirname(path), { recursive: true });
  }
  const environment = { ...environmentFor(step.image, step.secrets), ...step.environment };
  const endedWith = (exitCode: number): Ended => ({ exitCode, output: readIfThere(log), report: readIfThere(report) });
  for (const { host } of imagesOf(step).map(imageOf)) {
    const exitCode = host.setUp ? await runToEnd(host.setUp, environment, log, stop) : 0;
    if (exitCode !== 0) return endedWith(exitCode);
  }
  for (const image of step.archives) await saveImage(image, log, stop);
  // Processes are stopped in reverse order of their start.
  await using started = new AsyncDisposableStack();
  for (const name of step.services) {
    const service = await startService(serviceOf(name), log, stop);
    started.defer(() => service.stop());
    Object.assign(environment, service.environment);
  }
  // Else vLLM would get a tenth of a processor beside other steps, and count as frozen.
  const isBesideVllm = step.cores === 1 && step.image !== "vllm";
  return endedWith(await runToEnd(commandOf(step, report), environment, log, stop, { isBesideVllm }));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
