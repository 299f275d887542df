import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { lowerCpuPriority } from "@parley/common/lower-cpu-priority";
import { root } from "../root.ts";
import type { Command } from "../command.ts";

/** A program in a process group of its own, so that its child processes end with it. */
export interface Running {
  /** The exit code; 1 if a signal ended it. */
  readonly exitCode: Promise<number>;
  stop(): Promise<void>;
}

/** From SIGTERM to SIGKILL. */
const graceMs = 5000;

/** The nice value of steps that run beside vLLM. They get three times the processor time of vLLM, to which Parley gives 10. */
const besideVllm = 5;

/** Starts a program in the root of the repository. Its output is appended to the log. */
export async function startProcess(
  [program, ...args]: Command,
  environment: NodeJS.ProcessEnv,
  logFile: string,
  { isBesideVllm = false } = {},
): Promise<Running> {
  const log = createWriteStream(logFile, { flags: "a" });
  await once(log, "open");
  // `node` means the Node that runs this process.
  const file = program === "node" ? process.execPath : program;
  const child = spawn(file, args, { cwd: root, detached: true, stdio: ["ignore", log, log], env: environment });
  if (isBesideVllm && child.pid !== undefined) lowerCpuPriority(child.pid, besideVllm);
  const { promise: exitCode, resolve } = Promise.withResolvers<number>();
  child.on("error", (error) => log.write(`${error.message}\n`, () => resolve(1)));
  child.on("exit", (code) => {
    signalGroup(child.pid, "SIGKILL");
    log.end(() => resolve(code ?? 1));
  });
  return {
    exitCode,
    async stop() {
      signalGroup(child.pid, "SIGTERM");
      const isOver = await Promise.race([exitCode.then(() => true), wait(graceMs, false, { ref: false })]);
      if (!isOver) signalGroup(child.pid, "SIGKILL");
      await exitCode;
    },
  };
}

/** @returns the exit code. @throws the reason of the signal when it stops the program */
export async function runToEnd(
  command: Command,
  environment: NodeJS.ProcessEnv,
  logFile: string,
  stop: AbortSignal,
  options: { readonly isBesideVllm?: boolean } = {},
): Promise<number> {
  stop.throwIfAborted();
  const running = await startProcess(command, environment, logFile, options);
  const onStop = (): void => void running.stop();
  stop.addEventListener("abort", onStop, { once: true });
  const exitCode = await running.exitCode;
  stop.removeEventListener("abort", onStop);
  stop.throwIfAborted();
  return exitCode;
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // the whole group has ended
  }
}
