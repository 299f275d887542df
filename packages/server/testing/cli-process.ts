import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import flags from "../src/node-flags.json" with { type: "json" };
import { storesOf } from "./shared-stores.ts";
import { until } from "./until.ts";

/** The Node flags of every server. */
export const nodeFlags: readonly string[] = flags;

const ownProgram = fileURLToPath(new URL("../src/cli/main.mjs", import.meta.url));

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder, in which `parley.yaml` is searched. */
  readonly cwd?: string;
  /** A command that runs the program: `["bash", "-c", …]`. */
  readonly wrapper?: readonly string[];
  /** The path of the program in another copy of the tree. */
  readonly program?: string;
}

export interface CliResult {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real program in a separate process. */
export class CliProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";
  readonly #ended: Promise<unknown>;

  constructor(args: readonly string[], { env = {}, cwd, wrapper = [], program = ownProgram }: CliOptions = {}) {
    const [command = "", ...rest] = [...wrapper, process.execPath, ...nodeFlags, program, ...args];
    // The environment of the machine must not influence a test.
    const { PATH = "", HOME = "" } = process.env;
    this.child = spawn(command, rest, {
      cwd,
      env: { PATH, HOME, ...storesFor(args, env, cwd), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => (this.stdout += chunk.toString("utf8")));
    this.child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString("utf8")));
    this.#ended = once(this.child, "close");
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until standard error matches the pattern. Returns the first match. */
  async says(pattern: RegExp, timeoutMs = 45_000): Promise<RegExpExecArray> {
    const wanted = await until(
      () => ({ match: pattern.exec(this.stderr), isOver: this.isOver, said: this.stderr }),
      ({ match, isOver }) => match !== null || isOver,
      timeoutMs,
    );
    if (!wanted.match) throw new Error(`it ended without saying ${String(pattern)}:\n${this.stderr}`);
    return wanted.match;
  }

  async result(): Promise<CliResult> {
    await this.#ended;
    return { code: this.child.exitCode ?? this.child.signalCode, stdout: this.stdout, stderr: this.stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isOver) this.child.kill("SIGKILL");
    await this.#ended;
  }
}

/** Returns the variables with the stores of the process's data folder, if the tests run on shared state and `env` has none. */
function storesFor(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = ".",
): Readonly<Record<string, string>> {
  if ("PARLEY_DATABASE_URL" in env || "PARLEY_VALKEY_URL" in env) return {};
  const named = args[args.indexOf("--data-dir") + 1];
  const dataDir = (args.includes("--data-dir") ? named : env["PARLEY_DATA_DIR"]) ?? ".parley";
  const stores = storesOf(resolve(cwd, dataDir));
  return stores ? { PARLEY_DATABASE_URL: stores.databaseUrl, PARLEY_VALKEY_URL: stores.valkeyUrl } : {};
}

/** Runs a command to its end. */
export function parley(args: readonly string[], options?: CliOptions): Promise<CliResult> {
  return new CliProcess(args, options).result();
}
