import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { settlesWithin } from "@parley/common/settles-within";
import { chatPath } from "./subject.ts";
import type { Subject } from "./subject.ts";

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  /** A path that it answers as soon as it listens, with any status. */
  readonly healthPath: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Folder for its log. */
  readonly folder: string;
}

const startLimitMs = 120_000;
const stopLimitMs = 10_000;

/**
 * Starts a gateway in a process group of its own, so that Ctrl-C ends the bench first and the bench ends the gateway. It logs
 * to a file, as in production.
 */
export async function startProgram(program: Program): Promise<Subject> {
  const { command, args, cwd, env = {}, port, healthPath, headers = {}, folder } = program;
  const logFile = join(folder, "log.txt");
  const log = openSync(logFile, "a");
  const begun = performance.now();
  const { PATH = "", HOME = "" } = process.env;
  const options = { cwd, env: { PATH, HOME, ...env }, detached: true } as const;
  const child = spawn(command, args, { ...options, stdio: ["ignore", log, log] });
  closeSync(log);
  const ended = once(child, "exit");
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started`);
  const stop = (): Promise<void> => stopGroup(pid, ended);
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  while (!(await answers(port, healthPath))) {
    if (!isOver() && performance.now() - begun < startLimitMs) continue;
    await stop();
    throw new Error(`${command} did not answer on ${healthPath}, see ${logFile}`);
  }
  const startMs = performance.now() - begun;
  return { port, path: chatPath, headers, pid, startMs, [Symbol.asyncDispose]: stop };
}

/** Polls at most every 2 ms, so that polling hardly slows the start. */
async function answers(port: number, path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const asked = get({ host: "127.0.0.1", port, path, agent: false }, (answer) => {
    answer.resume();
    resolve(true);
  });
  asked.on("error", () => resolve(false));
  const isAnswered = await promise;
  if (!isAnswered) await wait(2);
  return isAnswered;
}

async function stopGroup(pid: number, ended: Promise<unknown>): Promise<void> {
  signalGroup(pid, "SIGTERM");
  await settlesWithin(ended, stopLimitMs);
  signalGroup(pid, "SIGKILL");
  await ended;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The process has ended already.
  }
}
