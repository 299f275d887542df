import { execFileSync, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { until } from "../until.ts";
import { modelName } from "../vllm/start-vllm.ts";
import type { FrontProgram, KnownFront, Places } from "./known-fronts.ts";

/** A program of others that could not be had. The message says why, and which variable can name it. */
export class MissingFrontError extends Error {
  override readonly name = "MissingFrontError";
}

/**
 * Returns the path of a front's program: the one that its variable names, or one that is installed from PyPI, outside of the
 * checkout, the first time.
 * @throws {MissingFrontError}
 */
export function programOf({ package: wanted, file, variable, environment }: FrontProgram): string {
  const named = process.env[variable];
  if (named !== undefined) return named;
  const known = environment === undefined ? undefined : join(environment, "bin", file);
  if (known !== undefined && existsSync(known)) return known;
  if (wanted === undefined)
    throw new MissingFrontError(`Its program is not installed automatically. ${variable} can name it.`);
  const folder = join(homedir(), ".cache/parley/fronts", wanted.replace("==", "-"));
  const found = join(folder, "bin", file);
  if (existsSync(found)) return found;
  try {
    execFileSync("python3", ["-m", "venv", folder], { stdio: "pipe" });
    const pip = join(folder, "bin/pip");
    execFileSync(pip, ["install", "--quiet", "--disable-pip-version-check", wanted], {
      stdio: "pipe",
      timeout: 300_000,
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    const why = error instanceof Error ? error.message.split("\n").slice(0, 2).join(" ") : String(error);
    throw new MissingFrontError(`${wanted} could not be installed (${why}). ${variable} can name a program instead.`);
  }
  return found;
}

/** Returns the reason why a front cannot be run here; undefined if it can. */
export function missingOf({ program, whole }: KnownFront): string | undefined {
  try {
    for (const one of [program, whole?.program]) if (one) programOf(one);
    return undefined;
  } catch (error) {
    if (error instanceof MissingFrontError) return error.message;
    throw error;
  }
}

export interface StartedFront extends AsyncDisposable {
  /** The addresses for Parley: one, or without a program those of the workers. */
  readonly urls: readonly string[];
  /** The address of its metrics, if they have a port of their own. */
  readonly metricsUrl: string;
  /** The process of the program; 0 without a program. */
  readonly pid: number;
  /** Settles when the program has ended; at once without a program. */
  readonly ended: Promise<unknown>;
}

interface StartOptions {
  /** A command, with its arguments, to be put before the program. */
  readonly wrapper?: readonly string[];
  /** Absent: free ports. */
  readonly ports?: Pick<Places, "port" | "metricsPort">;
  readonly limitMs?: number;
}

/**
 * Starts a front over these workers, and waits until it lists models.
 * @param more arguments after those of the front
 */
export async function startFront(
  { name, program, onlyModel }: Pick<KnownFront, "name" | "program" | "onlyModel">,
  workers: readonly string[],
  more: readonly string[] = [],
  { wrapper = [], ports, limitMs = 90_000 }: StartOptions = {},
): Promise<StartedFront> {
  if (!program) return withoutProgram(workers);
  const places = { ...(ports ?? (await freePorts())), workers, model: modelName };
  const [command, ...args] = [...wrapper, programOf(program), ...program.args(places), ...more];
  // Without a program there is no command.
  const child = spawn(command as string, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  const listen = (data: Buffer): void => void (said = `${said}${data.toString()}`.slice(-2000));
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${places.port}`;
  const model = onlyModel ?? modelName;
  const isListed = (): Promise<boolean> =>
    fetch(`${url}/v1/models`, { signal: AbortSignal.timeout(1000) }).then(
      async (answer) => answer.ok && (await answer.text()).includes(model),
      () => false,
    ); // not yet
  const stop = async (): Promise<void> => {
    endGroup(child.pid, "SIGTERM");
    await Promise.race([ended, wait(5000, undefined, { ref: false })]);
    // Also what a program has left in its group.
    endGroup(child.pid, "SIGKILL");
    await ended;
  };
  try {
    await until(`${name} lists ${model}`, () => child.exitCode !== null || isListed(), limitMs);
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start:\n${said}`, { cause: error });
  }
  const metricsUrl = `http://127.0.0.1:${places.metricsPort}`;
  // A program that lists models has a process.
  return { urls: [url], metricsUrl, pid: child.pid ?? 0, ended, [Symbol.asyncDispose]: stop };
}

/** A program that starts both workers has one address. */
const withoutProgram = (workers: readonly string[]): StartedFront => ({
  urls: [...new Set(workers)],
  metricsUrl: "",
  pid: 0,
  ended: Promise.resolve(),
  [Symbol.asyncDispose]: async () => undefined,
});

/** Signals a process that leads a group, and the others of its group. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/** Returns two free ports of the loopback interface. */
export const freePorts = async (): Promise<Pick<Places, "port" | "metricsPort">> => ({
  port: await freePort(),
  metricsPort: await freePort(),
});

/** Returns a free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
