import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { readAnswer } from "./protocol.ts";
import type { Adapter, Outcome, Task } from "./protocol.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The longest log that is kept of an adapter, in characters. */
const maxLogLength = 4_000_000;

/**
 * An adapter as a child process. The process gets a line per task, and may answer any number of them. If it has ended, or has
 * been ended because it hung, the next task starts a new one.
 */
export class AdapterProcess implements Adapter {
  log = "";
  readonly #command: string;
  #child: Child | undefined;
  #settle: ((outcome: Outcome | "left") => void) | undefined;
  #task: string | undefined;

  /** @param command a command for the shell */
  constructor(command: string) {
    this.#command = command;
  }

  async ask(task: Task, limit: Promise<unknown>): Promise<Outcome> {
    const outcome = await this.#askOnce(task, limit);
    // A process that ends in good order after an answer may not have seen that there was a next task.
    return outcome === "left" ? this.#askOnce(task, limit).then(toOutcome) : outcome;
  }

  async #askOnce(task: Task, limit: Promise<unknown>): Promise<Outcome | "left"> {
    const answer = new Promise<Outcome | "left">((resolve) => (this.#settle = resolve));
    this.#task = task.task;
    this.#child ??= this.#start();
    this.#child.stdin.write(`${toAscii(JSON.stringify(task))}\n`);
    const outcome = await Promise.race([answer, limit.then((): Outcome => ({ kind: "hung" }))]);
    this.#settle = undefined;
    if (outcome !== "left" && outcome.kind === "hung") this.#end();
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }

  #start(): Child {
    // A group of its own, so that the children of the shell end with it.
    const child = spawn(this.#command, {
      shell: true,
      detached: process.platform !== "win32",
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NO_PROXY: "127.0.0.1,localhost", no_proxy: "127.0.0.1,localhost" },
    });
    let lastWords = "";
    let hasAnswered = false;
    const keep = (text: string): void => {
      lastWords = `${lastWords}${text}`.slice(-1000);
      if (this.log.length < maxLogLength) this.log += text;
    };
    const isCurrent = (): boolean => this.#child === child;
    onLine(child.stdout, (line) => {
      const outcome = this.#task === undefined ? undefined : readAnswer(line, this.#task);
      if (outcome === undefined) keep(`${line}\n`);
      else if (isCurrent()) this.#settle?.(outcome);
      hasAnswered ||= outcome !== undefined;
    });
    child.stderr.on("data", (bytes: Buffer) => keep(bytes.toString()));
    child.stdin.on("error", () => undefined); // a process that has ended reads no task
    child.on("error", (error) => keep(error.message));
    child.on("close", (code, signal) => {
      if (!isCurrent()) return;
      this.#child = undefined;
      const how = `exit code ${code ?? signal}${lastWords === "" ? "" : `: ${lastWords.trim()}`}`;
      this.#settle?.(hasAnswered && code === 0 ? "left" : { kind: "ended", how });
    });
    return child;
  }

  #end(): void {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined) return;
    try {
      if (process.platform === "win32") child.kill("SIGKILL");
      else process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

const toOutcome = (outcome: Outcome | "left"): Outcome =>
  outcome === "left" ? { kind: "ended", how: "exit code 0" } : outcome;

/** Escapes everything beyond ASCII, because some readers of lines also split at U+0085 and U+2028. */
const toAscii = (json: string): string =>
  json.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${(unit.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);

/** Calls back with each line that ends with a line feed. */
function onLine(stream: Readable, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}
