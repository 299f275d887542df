import { spawn } from "node:child_process";

/** Enough for the first build of a Rust client, which compiles two hundred crates. */
const buildLimitMs = 1_200_000;

export type Environment = Readonly<Record<string, string>>;

export interface Ended {
  readonly exitCode: number | null;
  /** The text on standard output. */
  readonly printed: string;
  /** The text on standard output and standard error. */
  readonly output: string;
}

/** Runs a command of the shell, and ends it when it takes too long. */
export function runCommand(
  command: string,
  cwd: string,
  environment: Environment,
  limitMs = buildLimitMs,
): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = spawn(command, {
    cwd,
    shell: true,
    detached: true,
    // Programs that read a prompt from standard input must find its end.
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  // Kills the whole process group, because child processes survive a shell that is killed alone.
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), limitMs);
  let printed = "";
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => {
    printed += bytes.toString();
    output += bytes.toString();
  });
  child.stderr.on("data", (bytes: Buffer) => {
    output += bytes.toString();
  });
  child.on("error", (error) => resolve({ exitCode: null, printed, output: error.message }));
  child.on("close", (exitCode) => {
    clearTimeout(timer);
    resolve({ exitCode, printed, output });
  });
  return promise;
}

/** Runs commands until one fails. @returns the output of the failed command */
export async function runAll(
  commands: readonly string[],
  cwd: string,
  environment: Environment,
): Promise<string | undefined> {
  for (const command of commands) {
    const { exitCode, output } = await runCommand(command, cwd, environment);
    if (exitCode !== 0) return `${command}\n${output}`;
  }
  return undefined;
}
