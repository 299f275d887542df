import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildNative } from "./build.ts";

/** One request that is sent over and over, and its number of connections. See `load --help`. */
export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly connections: number;
  /** Measured time, which begins when all connections have been answered and have warmed up. */
  readonly seconds?: number;
  readonly warmUpSeconds?: number;
  /** Every connection asks once, all at the same time. */
  readonly isOnce?: boolean;
  /** Spreads the start of the connections over this time, so that answers do not come in waves. Absent: all start at once. */
  readonly spreadSeconds?: number;
  /** Opens a new connection for every request. */
  readonly isFresh?: boolean;
  /** Text that a plain answer has to contain. */
  readonly expected?: string;
  readonly limitSeconds?: number;
}

/** Microseconds. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Counts and times of the answers in the measured time. */
export interface LoadResult {
  readonly answers: number;
  /** Events with data, without `[DONE]`. */
  readonly events: number;
  /** Connections that could not be opened. */
  readonly refused: number;
  /** Answers that ended before their end. */
  readonly cut: number;
  /** Answers with a status other than 200, or without the expected text. */
  readonly wrong: number;
  /** Connections that ask once and got no answer in time. */
  readonly unfinished: number;
  readonly wall_us: number;
  /** Time until every connection had its first event. */
  readonly opened_us: number;
  /** Description of one failure, as an example. */
  readonly sample: string;
  readonly first_us: Quantiles;
  readonly whole_us: Quantiles;
  readonly gap_us: Quantiles;
}

export interface Observed<T> {
  readonly result: LoadResult;
  /** Observations at the start of the measured time, and at its end while the connections are still open. */
  readonly before: T;
  readonly after: T;
}

/** Runs the load generator. @param observe takes a measurement of the server */
export async function runLoad<T>(
  load: Load,
  folder: string,
  observe: () => T | Promise<T>,
  signal: AbortSignal,
): Promise<Observed<T>> {
  signal.throwIfAborted();
  const child = spawn(buildNative("load"), argumentsOf(load, writeRequest(load, folder)), {
    stdio: ["pipe", "pipe", "inherit"],
    signal,
  });
  const ended = once(child, "exit");
  ended.catch(() => undefined); // an abort is thrown below
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  await readLine(lines, signal);
  const before = await observe();
  const result = JSON.parse(await readLine(lines, signal)) as LoadResult; // as load.c prints it
  const after = await observe();
  child.stdin.end();
  await ended;
  return { result, before, after };
}

async function readLine(lines: AsyncIterator<string>, signal: AbortSignal): Promise<string> {
  const { value, done } = await lines.next();
  signal.throwIfAborted();
  if (done === true) throw new Error("the load generator ended early");
  return value;
}

/** Writes the bytes of the request to a file. @returns its path */
function writeRequest({ path, headers, body }: Load, folder: string): string {
  const text = JSON.stringify(body);
  const all = {
    host: "127.0.0.1",
    "content-type": "application/json",
    ...headers,
    "content-length": Buffer.byteLength(text),
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const file = join(folder, "request.http");
  writeFileSync(file, `POST ${path} HTTP/1.1\r\n${head.join("")}\r\n${text}`);
  return file;
}

function argumentsOf(load: Load, request: string): string[] {
  const { port, connections, seconds = 1, warmUpSeconds = 0, limitSeconds = 60, expected } = load;
  const values = {
    port,
    request,
    connections,
    seconds,
    "warm-up": warmUpSeconds,
    limit: limitSeconds,
    spread: load.spreadSeconds ?? 0,
    ...(expected !== undefined && { expect: expected }),
  };
  const switches = [...(load.isOnce === true ? ["--once"] : []), ...(load.isFresh === true ? ["--fresh"] : [])];
  return [...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]), ...switches];
}
