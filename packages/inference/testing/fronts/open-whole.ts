import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { until } from "../until.ts";
import { modelName } from "../vllm/start-vllm.ts";
import type { FrontProgram, WholeProgram } from "./known-fronts.ts";
import type { FrontWorker, FrontWorkers } from "./open-workers.ts";
import { readMetrics, sumOf } from "./read-metrics.ts";
import { freePorts, programOf, startFront } from "./start-front.ts";
import type { StartedFront } from "./start-front.ts";

/** Engines take minutes to start on a busy machine. */
const startLimitMs = 300_000;

/** Starts a program that starts both workers. These have the same address. */
export async function openWhole(name: string, whole: WholeProgram, more: readonly string[]): Promise<FrontWorkers> {
  const folder = mkdtempSync(join(tmpdir(), "parley-"));
  const clear = (): void => rmSync(folder, { recursive: true, force: true });
  const variables = Object.entries({ ...whole.environment, TMPDIR: folder });
  const wrapper = ["env", ...variables.map(([variable, value]) => `${variable}=${value}`)];
  const front = { name, program: whole.program };
  const ports = await freePorts();
  const start = (): Promise<StartedFront> => startFront(front, [], more, { wrapper, ports, limitMs: startLimitMs });
  const started = await start().catch((error: unknown) => {
    clear();
    throw error;
  });
  let latest = Promise.resolve(started);
  const stop = async (): Promise<void> => {
    // A program that did not start again has been stopped.
    await (await latest.catch(() => undefined))?.[Symbol.asyncDispose]();
    clear();
  };
  const startAgain = async (): Promise<StartedFront> => {
    await started.ended;
    await started[Symbol.asyncDispose]();
    return await start();
  };
  const afterKill = (): void => {
    if (whole.endsWithWorker !== true) return;
    latest = startAgain();
    latest.catch(() => undefined); // the requests fail then, and are counted
  };
  try {
    const workers = await findWorkers(name, whole, started, afterKill);
    const nothing = (): void => undefined;
    const vllm = vllmVersionOf(whole.program);
    return {
      workers,
      vllm,
      answerTokens: 4000,
      blockTokens: 128,
      slowDown: nothing,
      recover: nothing,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function findWorkers(
  name: string,
  whole: WholeProgram,
  started: StartedFront,
  afterKill: () => void,
): Promise<FrontWorker[]> {
  const { metricsDelayMs = 0, counters, isProcess } = whole;
  const [url = ""] = started.urls;
  const read = async (): Promise<readonly string[]> => {
    if (metricsDelayMs > 0) await wait(metricsDelayMs);
    return (await readMetrics(metricsDelayMs > 0 ? started.metricsUrl : url)).split("\n");
  };
  let workers: readonly string[] = [];
  const countWorkers = async (): Promise<boolean> => {
    workers = [...new Set((await read()).flatMap((line) => counters.exec(line)?.[1] ?? []))];
    return workers.length === 2;
  };
  // Ray lists its models before they answer.
  await until(`${name} answers`, () => isAnswering(url), startLimitMs);
  await until(`${name} counts the requests of two workers`, countWorkers, 30_000);
  return workers.map((worker) => ({
    url,
    asked: async () => {
      const lines = (await read()).filter((line) => counters.exec(line)?.[1] === worker);
      return sumOf(lines.join("\n"), /./);
    },
    kill: async () => {
      const found = processesBelow(started.pid).find((process) => isProcess(process, worker));
      if (!found) throw new Error(`no process of ${name} is its worker ${worker}`);
      process.kill(found.pid, "SIGKILL");
      afterKill();
    },
    [Symbol.asyncDispose]: async () => undefined,
  }));
}

async function isAnswering(url: string): Promise<boolean> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ model: modelName, prompt: "Hello", max_tokens: 1 });
  const signal = AbortSignal.timeout(10_000);
  const isAnswered = await fetch(`${url}/v1/completions`, { method: "POST", headers, body, signal }).then(
    (response) => response.ok,
    () => false,
  ); // not yet
  if (!isAnswered) await wait(500);
  return isAnswered;
}

/** Asks the Python that is next to the front's program. */
export function vllmVersionOf(program: FrontProgram): string {
  const python = join(dirname(programOf(program)), "python");
  const code = "from importlib.metadata import version; print(version('vllm'))";
  return execFileSync(python, ["-c", code], { encoding: "utf8" }).trim();
}

export interface ChildProcess {
  readonly pid: number;
  /** Its arguments, or the title that it gave itself. */
  readonly title: string;
}

/** Returns the processes that a process has started, and those that these have started. */
function processesBelow(root: number): ChildProcess[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).trim().split("\n");
  const all = lines.map((line) => {
    const [pid, parent, ...title] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), title: title.join(" ") };
  });
  const below = (pid: number): ChildProcess[] =>
    all.filter(({ parent }) => parent === pid).flatMap((process) => [process, ...below(process.pid)]);
  return below(root);
}
