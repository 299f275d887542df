import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { settlesWithin } from "@parley/common/settles-within";
import { LineReader } from "../wire/line-reader.ts";

/** The maximum characters of a line. Longer lines are split, because an engine that prints noise must not fill our memory. */
const longestLine = 8192;
/** Milliseconds to wait for the last lines after the process has ended. Its own child processes may hold its pipes open. */
const lastLinesMs = 500;

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that differ from our environment. Our settings and secrets are not passed on. */
  readonly env?: NodeJS.ProcessEnv;
  /** The working directory; undefined: ours. */
  readonly folder?: string;
  /** How the process is asked to exit: by closing its standard input, which it reads for nothing else, or by a signal. */
  readonly endsBy: "input" | "SIGTERM";
  /** Kills the process and everything that it has started; undefined: kills the whole process group at once. */
  readonly kill?: (pid: number) => void;
}

/** One run of an engine's program, in its own process group. */
export class EngineProcess {
  readonly #child: ChildProcess;
  readonly #endsBy: Program["endsBy"];
  readonly #kill: (pid: number) => void;
  readonly #outputRead: Promise<unknown>;
  #startFailure: Error | undefined;
  /** Resolves after the last lines have been read, with the way in which it ended or the reason why it could not be started. */
  readonly ended: Promise<string>;

  constructor({ command, args, env, folder, endsBy, kill = killGroup }: Program, onLogLine: (line: string) => void) {
    const surroundings = { env: { ...withoutOurs(process.env), ...env }, ...(folder !== undefined && { cwd: folder }) };
    // In its own group, Ctrl-C reaches only the server, and killing the group reaches everything that the engine has started.
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], detached: true, ...surroundings });
    this.#child = child;
    this.#endsBy = endsBy;
    this.#kill = kill;
    // If no descriptor was free for its pipes, a child has no pipes, although its type declares them.
    const { stdin, stdout, stderr }: Partial<Pick<ChildProcess, "stdin" | "stdout" | "stderr">> = child;
    // Writing to a child that has ended must not end the server with EPIPE.
    stdin?.on("error", () => undefined);
    const outputs = [stdout, stderr].filter((output) => output instanceof Readable);
    this.#outputRead = Promise.allSettled(outputs.map((output) => listen(output, onLogLine)));
    this.ended = this.#untilEnd();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The reason why it was never started, known once `ended` has resolved; undefined: it was started. */
  get startFailure(): Error | undefined {
    return this.#startFailure;
  }

  /** Asks the process to exit. It may finish its running work. */
  askToEnd(): void {
    if (this.#endsBy === "input") this.#child.stdin?.end();
    else this.#child.kill(this.#endsBy);
  }

  kill(): void {
    if (this.pid !== undefined) this.#kill(this.pid);
  }

  /** Sets if this process may keep ours from exiting. It would end with ours anyway. */
  hold(isHeld: boolean): void {
    const { stdio }: Partial<Pick<ChildProcess, "stdio">> = this.#child;
    const handles = [this.#child, ...(stdio ?? []).filter((pipe) => pipe instanceof Socket)];
    for (const handle of handles) {
      if (isHeld) handle.ref();
      else handle.unref();
    }
  }

  async #untilEnd(): Promise<string> {
    const { promise: exited, resolve } = Promise.withResolvers<string>();
    this.#child.on("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    this.#child.on("error", (error) => {
      if (this.pid !== undefined) return;
      this.#startFailure = error;
      resolve(error.message);
    });
    const how = await exited;
    this.kill(); // everything that it has started
    await settlesWithin(this.#outputRead, lastLinesMs);
    return how;
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}

async function listen(stream: Readable, onLogLine: (line: string) => void): Promise<void> {
  const lines = new LineReader(longestLine);
  // Every chunk of a pipe is bytes.
  for await (const bytes of stream as AsyncIterable<Uint8Array>) for (const line of lines.push(bytes)) onLogLine(line);
  for (const line of lines.end()) onLogLine(line);
}

/** Returns an environment without our settings and secrets, and without the variable that opens vLLM's debugging paths. */
export function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isForeign = ([name]: readonly [string, unknown]): boolean =>
    !name.startsWith("PARLEY_") && name !== "VLLM_SERVER_DEV_MODE" && name !== "VLLM_API_KEY";
  return Object.fromEntries(Object.entries(env).filter(isForeign));
}
