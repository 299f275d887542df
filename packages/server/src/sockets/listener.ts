import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { compile as compileNetworks } from "proxy-addr";
import type { Config } from "../config/read-config.ts";
import { LoopTurns, senderOf } from "../http/loop-turns.ts";
import { Pipeline } from "./pipeline.ts";
import { answerRawErrors } from "./raw-errors.ts";
import { readInTurns } from "../http/read-in-turns.ts";
import { maxHeadBytes, maxFieldsRead } from "../http/refuse-huge-heads.ts";
import { SocketPlaces, isProbe } from "./socket-places.ts";
import type { SocketBound } from "./decide-place.ts";
import type { OnRefused, SocketBounds } from "./socket-places.ts";
import { isNeverRead } from "../http/unread-body.ts";
import type { Log } from "../observe/log.ts";
import type { RefusalSample } from "../observe/refusal-sample.ts";

/** Maximum number of connections to the metrics port. It bounds the memory of answers that are being read. */
export const maxMetricsSockets = 64;

/** The port cannot be opened. The message says what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

interface ListenerOptions {
  readonly host: string;
  readonly slowReaderMs: number;
  readonly bounds: SocketBounds;
  readonly onRefused: OnRefused;
}

/** A listening port. It is opened before anything can be served, so a port in use is reported first. */
export class Listener implements AsyncDisposable {
  readonly #server: Server;
  readonly #host: string;
  readonly #places: SocketPlaces;
  readonly #pipelines = new Map<Socket, Pipeline>();
  /** Requests that arrived before `serve` was called. It handles them then. */
  readonly #early: Parameters<RequestListener>[] = [];
  readonly #keep: RequestListener = (...request) => void this.#early.push(request);
  #isDraining = false;
  /** The turns of all requests that arrive here. */
  readonly turns = new LoopTurns();

  private constructor(server: Server, { host, slowReaderMs, bounds, onRefused }: ListenerOptions) {
    this.#server = server;
    this.#host = host;
    const isIdle = (socket: Socket): boolean => this.#pipelines.get(socket)?.isIdle === true;
    const places = new SocketPlaces(bounds, { isIdle, onRefused });
    this.#places = places;
    server.on("request", this.#keep);
    // Without this listener, a connection that cannot be accepted would crash the process. `DescriptorWatch` logs the
    // reason.
    server.on("error", () => undefined);
    const readRequests = takeConnections(server);
    const { turns } = this;
    server.on("connection", (socket: Socket) => {
      turns.noteConnection();
      if (hasLeft(socket)) {
        socket.destroy();
        return;
      }
      readRequests(socket);
      places.enter(socket);
      const onIdle = (): void => {
        if (this.#isDraining) socket.destroySoon();
      };
      this.#pipelines.set(socket, new Pipeline(socket, { slowReaderMs, silenceMs: server.timeout, onIdle, turns }));
      socket.on("close", () => this.#pipelines.delete(socket));
    });
  }

  /** @throws {ListenError} */
  static async open(config: Config, log: Log, refusals: RefusalSample): Promise<Listener> {
    const { host, port, headTimeoutMs, bodyTimeoutMs, requestTimeoutMs, slowReaderMs } = config;
    const server = createServer({
      // Node would answer these requests without the error envelope.
      requireHostHeader: false,
      maxHeaderSize: maxHeadBytes,
      headersTimeout: headTimeoutMs,
      // A deadline for bodies that no step reads. `readBody` has its own.
      requestTimeout: headTimeoutMs + bodyTimeoutMs + 5000,
      keepAliveTimeout: config.connectionIdleMs,
      connectionsCheckingInterval: Math.max(50, Math.min(1000, headTimeoutMs / 2)),
    });
    server.maxHeadersCount = maxFieldsRead;
    // Longer than any answer may take. If a socket is silent for this time, its client reads nothing.
    server.timeout = requestTimeoutMs + slowReaderMs;
    answerRawErrors(server, log, refusals);
    const onRefused = logRefusals(log, refusals);
    // Made first: in a worker, a connection can arrive together with the opened port.
    const listener = new Listener(server, { host, slowReaderMs, bounds: boundsOf(config), onRefused });
    await listen(server, host, port, "PORT");
    return listener;
  }

  /** @throws {ListenError} */
  static async openMetrics(
    host: string,
    port: number,
    { slowReaderMs, connectionIdleMs: keepAliveTimeout }: Config,
  ): Promise<Listener> {
    const server = createServer({ keepAliveTimeout });
    const bounds = { maxAll: maxMetricsSockets, maxPerAddress: maxMetricsSockets, isProxy: () => false };
    const listener = new Listener(server, { host, slowReaderMs, bounds, onRefused: () => undefined });
    await listen(server, host, port, "PARLEY_METRICS_PORT");
    return listener;
  }

  /** The URL without a path. An address for all interfaces is shown as loopback, which works on this machine. */
  get url(): string {
    // A server that listens on TCP has an address of this type.
    const { port, family } = this.#server.address() as AddressInfo;
    const isAny = this.#host === "0.0.0.0" || this.#host === "::";
    const host = isAny ? "127.0.0.1" : this.#host;
    return `http://${family === "IPv6" && host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /** The numbers of open and refused connections. */
  get connections(): Pick<SocketPlaces, "open" | "refused"> {
    return this.#places;
  }

  /** Marks a connection as authenticated: no newcomer takes its place while it is in use. */
  keepPlace(socket: Socket): void {
    this.#places.keep(socket);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  serve(handler: RequestListener): void {
    const handle: RequestListener = (request, response) => {
      // The client may have disconnected while the request waited.
      if (response.destroyed) return;
      if (this.#isDraining) response.setHeader("connection", "close");
      handler(request, response);
    };
    const accept: RequestListener = (request, response) => {
      if (!this.#places.admits(request)) return;
      if (isNeverRead(request)) {
        response.setHeader("connection", "close");
        readInTurns(request, this.turns);
      }
      // Removes the origin of an absolute URL. Proxies send such URLs, and HTTP demands that servers accept them.
      request.url = request.url?.replace(/^https?:\/\/[^/?]*/i, "") || "/";
      this.#pipelines.get(request.socket)?.enter(response, () => {
        if (isProbe(request.url ?? "")) handle(request, response);
        else void this.turns.forHead(senderOf(request)).then(() => handle(request, response));
      });
    };
    this.#server.off("request", this.#keep).on("request", accept);
    // Without listeners for these events, Node would answer before the key is checked.
    this.#server.on("checkContinue", accept);
    this.#server.on("checkExpectation", accept);
    for (const request of this.#early.splice(0)) accept(...request);
  }

  /**
   * Stops accepting connections, and resolves when the last request has ended. Calls `onLate` if that takes longer than
   * `timeoutMs`.
   */
  async drain(timeoutMs: number, onLate: () => void): Promise<void> {
    this.#isDraining = true;
    const closed = once(this.#server, "close");
    this.#server.close();
    // Closes idle connections.
    for (const [socket, pipeline] of this.#pipelines) if (pipeline.isIdle) socket.destroySoon();
    const late = setTimeout(onLate, timeoutMs);
    const forced = setTimeout(() => this.#server.closeAllConnections(), timeoutMs + 2000);
    await closed;
    clearTimeout(late);
    clearTimeout(forced);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Removes Node's listeners for new connections. @returns a function that calls them */
function takeConnections(server: Server): (socket: Socket) => void {
  const listeners = server.listeners("connection") as ((socket: Socket) => void)[]; // the arguments of this event
  server.removeAllListeners("connection");
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

/**
 * Checks whether the connection was reset before it was accepted. Such connections are closed at once, because a flood of
 * them would fill the accept queue.
 */
const hasLeft = (socket: Socket): boolean => socket.remoteAddress === undefined;

/** The name of each bound in the log. */
const refusedBy: Readonly<Record<SocketBound, string>> = {
  all: "PARLEY_MAX_SOCKETS",
  address: "PARLEY_SOCKETS_PER_ADDRESS",
};

function boundsOf({ maxSockets, socketsPerAddress, trustedProxies }: Config): SocketBounds {
  const isTrusted = compileNetworks([...trustedProxies]);
  return { maxAll: maxSockets, maxPerAddress: socketsPerAddress, isProxy: (address) => isTrusted(address, 0) };
}

const logRefusals =
  (log: Log, refusals: RefusalSample): OnRefused =>
  (bound, address) => {
    const leftOut = refusals.next();
    if (leftOut !== undefined)
      log.warn({ address, setting: refusedBy[bound], left_out: leftOut || undefined }, "connection refused");
  };

/**
 * Number of connections that may wait to be accepted. Node's default is 511, and Linux allows 4,096 (`net.core.somaxconn`).
 * Linux drops further connections and counts them in `ListenOverflows`, and their clients retry after a second.
 */
const backlog = 4096;

async function listen(server: Server, host: string, port: number, setting: string): Promise<void> {
  try {
    server.listen({ port, host, backlog });
    await once(server, "listening");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const other = `Choose another one with ${setting} (0 takes any free one).`;
    if (code === "EADDRINUSE") throw new ListenError(`Port ${port} on ${host} is in use. ${other}`, { cause: error });
    if (code === "EACCES")
      throw new ListenError(`Port ${port} may not be opened by this user. ${other}`, { cause: error });
    throw new ListenError(
      `The server cannot listen on ${host}:${port} (${String(error)}). Check ${setting === "PORT" ? "HOST" : "PARLEY_METRICS_HOST"} and ${setting}.`,
      { cause: error },
    );
  }
}
