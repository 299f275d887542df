import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Judgement } from "./judge-case.ts";
import { dataSetOf } from "./read-case.ts";

const program = fileURLToPath(new URL("judge.ts", import.meta.url));

/** Judges one schema after another in a process that is restarted when it dies or takes too long. */
export class JudgeProcess implements AsyncDisposable {
  readonly #limitMs: number;
  #child: ChildProcess | undefined;

  /** @param limitMs time limit of one schema */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  async judge(path: string): Promise<Judgement> {
    const child = (this.#child ??= await start());
    const id = basename(path, ".json");
    const isOver = new AbortController();
    const { signal } = isOver;
    child.send(path);
    const outcome = await Promise.race([
      answerOf(child, signal),
      exitOf(child, signal),
      setTimeout(this.#limitMs, "late" as const, { signal }),
    ]);
    isOver.abort();
    if (typeof outcome === "object") return outcome;
    await this[Symbol.asyncDispose]();
    return { id, dataSet: dataSetOf(id), verdict: outcome === "late" ? "late" : "died", reason: outcome };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

async function start(): Promise<ChildProcess> {
  const child = fork(program, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const isReady = await Promise.race([once(child, "message").then(() => true), once(child, "exit").then(() => false)]);
  if (!isReady) throw new Error("the process that judges did not start");
  return child;
}

async function answerOf(child: ChildProcess, signal: AbortSignal): Promise<Judgement> {
  const [judgement] = (await once(child, "message", { signal })) as [Judgement]; // `judge.ts` sends nothing else
  return judgement;
}

async function exitOf(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const [code, killedBy] = (await once(child, "exit", { signal })) as [number | null, string | null];
  return `the process ended with ${killedBy ?? `exit code ${code}`}`;
}
