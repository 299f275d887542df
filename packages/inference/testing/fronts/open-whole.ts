import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { until } from "../until.ts";
import type { FrontProgram, WholeProgram } from "./known-fronts.ts";
import type { FrontWorker, FrontWorkers } from "./open-workers.ts";
import { readMetrics, sumOf } from "./read-metrics.ts";
import { programOf, startFront } from "./start-front.ts";

/** Engines take minutes to start on a busy machine. */
const startLimitMs = 300_000;

/** Starts a program that starts both workers. These have the same address. */
export async function openWhole(name: string, whole: WholeProgram, more: readonly string[]): Promise<FrontWorkers> {
  const { program, environment, hasMetricsPort, counters, isProcess } = whole;
  const variables = Object.entries(environment).map(([variable, value]) => `${variable}=${value}`);
  const started = await startFront({ name, program }, [], more, ["env", ...variables], startLimitMs);
  const [url = ""] = started.urls;
  const read = (): Promise<string> => readMetrics(hasMetricsPort ? started.metricsUrl : url);
  const open = (worker: string): FrontWorker => ({
    url,
    asked: async () => {
      const lines = (await read()).split("\n").filter((line) => counters.exec(line)?.[1] === worker);
      return sumOf(lines.join("\n"), /./);
    },
    kill: async () => {
      const found = processesBelow(started.pid).find((process) => isProcess(process, worker));
      if (!found) throw new Error(`no process of ${name} is its worker ${worker}`);
      process.kill(found.pid, "SIGKILL");
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  let names: readonly string[] = [];
  const countNames = async (): Promise<boolean> => {
    names = [...new Set((await read()).split("\n").flatMap((line) => counters.exec(line)?.[1] ?? []))];
    return names.length === 2;
  };
  try {
    await until(`${name} counts the requests of two workers`, countNames, 30_000);
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
  return {
    workers: names.map(open),
    vllm: vllmVersionOf(program),
    blockTokens: 128,
    slowDown: () => undefined,
    recover: () => undefined,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

/** Asks the Python that is next to the front's program. */
function vllmVersionOf(program: FrontProgram): string {
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
