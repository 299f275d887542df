import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** Bytes that the upstream writes at once. Each piece becomes one chunk of the transfer coding. */
export interface Piece {
  readonly bytes: string | Buffer;
  readonly afterMs?: number;
}

/** The answer that the upstream gives to one request. */
export interface Script {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Piece[];
  /** `finish` (default) ends the body in good order, `reset` resets the connection before its end. */
  readonly end?: "finish" | "reset";
}

/** A request as it reached the upstream. */
export interface Received {
  readonly method: string;
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** Milliseconds of `performance.now()`. */
  readonly atMs: number;
  /** The time when the gateway closed the connection before the end of the answer. */
  hungUpAtMs?: number;
}

/** A script that is being played, and the requests that it has answered. */
export interface Play {
  readonly script: Script;
  readonly received: Received[];
}

export interface Upstream extends AsyncDisposable {
  readonly baseUrl: string;
  /** Plays a script for every request whose body contains the nonce, until `stop` is called. */
  readonly play: (nonce: string, script: Script) => Play;
  readonly stop: (nonce: string) => void;
}

const resetAfterMs = 50;

const listing = (model: string): string =>
  JSON.stringify({ object: "list", data: [{ id: model, object: "model", created: 1, owned_by: "sandwich" }] });

/**
 * Starts the scripted server that stands behind the gateway.
 * @throws {Error} the port is taken
 */
export async function startUpstream(options: {
  readonly host: string;
  readonly port: number;
  readonly model: string;
}): Promise<Upstream> {
  const plays = new Map<string, Play>();
  const server = createServer((request, response) => {
    request.on("error", () => undefined); // the gateway may hang up at any time
    response.on("error", () => undefined);
    void answer(request, response, plays, options.model);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    baseUrl: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}/v1`,
    play(nonce, script) {
      const play: Play = { script, received: [] };
      plays.set(nonce, play);
      return play;
    },
    stop: (nonce) => void plays.delete(nonce),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  plays: ReadonlyMap<string, Play>,
  model: string,
): Promise<void> {
  const atMs = performance.now();
  const body = await readBody(request);
  if (body === undefined) return;
  if (request.method !== "POST") return answerListing(request, response, model);
  const [, play] =
    [...plays].find(([nonce]) => body.includes(nonce)) ?? (plays.size === 1 ? [...plays][0] : undefined) ?? [];
  if (play === undefined) return void response.writeHead(503).end();
  const { method = "", url: target = "", headers } = request;
  const received: Received = { method, target, headers, body, atMs };
  play.received.push(received);
  let isReset = false;
  response.on("close", () => {
    if (!response.writableFinished && !isReset) received.hungUpAtMs = performance.now();
  });
  await write(play.script, response);
  if (response.destroyed) return;
  if (play.script.end !== "reset") return void response.end();
  isReset = true;
  response.socket?.resetAndDestroy();
}

function answerListing({ url = "" }: IncomingMessage, response: ServerResponse, model: string): void {
  const isListing = /\/models\/?(?:\?|$)/.test(url);
  // Routers ask for the health and the facts of an engine before they send it requests.
  const isKnown =
    isListing || /\/(?:health|ping|version|get_model_info|get_server_info|server_info|model_info)/.test(url);
  response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
  response.end(isListing ? listing(model) : JSON.stringify({ model_path: model, version: "0" }));
}

/** Returns undefined if the gateway hung up before the end of the body. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer); // no encoding was set
  } catch {
    return undefined;
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Writes the pieces of a script, until the gateway hangs up. */
async function write({ status = 200, headers, pieces, end }: Script, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal: closed.signal }).catch(() => undefined);
  for (const { bytes, afterMs = 0 } of pieces) {
    await pause(afterMs);
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(status, headers);
    response.write(bytes);
  }
  // The bytes before a reset have to leave first.
  if (end === "reset" && response.headersSent) await pause(resetAfterMs);
}
