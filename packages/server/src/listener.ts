import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { compile as compileNetworks } from "proxy-addr";
import type { Config } from "./config/read-config.ts";
import { LoopTurns, senderOf } from "./edge/loop-turns.ts";
import { Pipeline } from "./edge/pipeline.ts";
import { answerRawErrors } from "./edge/raw-errors.ts";
import { readInTurns } from "./edge/read-in-turns.ts";
import { maxHeadBytes, maxFieldsRead } from "./edge/refuse-huge-heads.ts";
import { SocketPlaces, isProbe } from "./edge/socket-places.ts";
import type { OnRefused, SocketBound, SocketBounds } from "./edge/socket-places.ts";
import { isNeverRead } from "./edge/unread-body.ts";
import type { Log } from "./observe/log.ts";
import type { RefusalSample } from "./observe/refusal-sample.ts";

/** Each scrape holds its own text while it is read. */
export const maxMetricsSockets = 64;

/** The port cannot be opened; the message says what to do. */
export class ListenError extends Error {}

interface ListenerOptions {
  readonly host: string;
  readonly slowReaderMs: number;
  readonly bounds: SocketBounds;
  readonly onRefused: OnRefused;
}

/** A socket that accepts connections before there is anything to serve, so that a taken port is reported first. */
export class Listener implements AsyncDisposable {
  readonly #server: Server;
  readonly #host: string;
  readonly #places: SocketPlaces;
  readonly #pipelines = new Map<Socket, Pipeline>();
  /** Requests that arrived before `serve` was called, which then handles them. */
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
    // Without a listener, a connection that cannot be accepted would end the server. `DescriptorWatch` tells the operator.
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
      // Node itself would answer these without the envelope.
      requireHostHeader: false,
      maxHeaderSize: maxHeadBytes,
      headersTimeout: headTimeoutMs,
      // Bodies that are read have a deadline of their own: this one ends those that nobody reads.
      requestTimeout: headTimeoutMs + bodyTimeoutMs + 5000,
      keepAliveTimeout: config.connectionIdleMs,
      connectionsCheckingInterval: Math.max(50, Math.min(1000, headTimeoutMs / 2)),
    });
    server.maxHeadersCount = maxFieldsRead;
    // Longer than any answer may take: a socket that is silent by then belongs to a client that reads nothing.
    server.timeout = requestTimeoutMs + slowReaderMs;
    answerRawErrors(server, log, refusals);
    await listen(server, host, port, "PORT");
    const onRefused = logRefusals(log, refusals);
    return new Listener(server, { host, slowReaderMs, bounds: boundsOf(config), onRefused });
  }

  /** @throws {ListenError} */
  static async openMetrics(
    host: string,
    port: number,
    { slowReaderMs, connectionIdleMs: keepAliveTimeout }: Config,
  ): Promise<Listener> {
    const server = createServer({ keepAliveTimeout });
    await listen(server, host, port, "PARLEY_METRICS_PORT");
    const bounds = { ofAll: maxMetricsSockets, ofAddress: maxMetricsSockets, isProxy: () => false };
    return new Listener(server, { host, slowReaderMs, bounds, onRefused: () => undefined });
  }

  /** Without a path. An address for all interfaces is shown as loopback: it is where this machine finds it. */
  get url(): string {
    // A server that listens on TCP has an address of this type.
    const { port, family } = this.#server.address() as AddressInfo;
    const isAny = this.#host === "0.0.0.0" || this.#host === "::";
    const host = isAny ? "127.0.0.1" : this.#host;
    return `http://${family === "IPv6" && host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /** Its connections: how many are open, and how many were refused. */
  get connections(): Pick<SocketPlaces, "open" | "refused"> {
    return this.#places;
  }

  /** To be called for a connection that has shown a valid key: no newcomer takes its place. */
  keepPlace(socket: Socket): void {
    this.#places.keep(socket);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  serve(handler: RequestListener): void {
    const handle: RequestListener = (request, response) => {
      // Its caller may have left while it waited.
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
      // A proxy's way to write a path, which every server has to understand.
      request.url = request.url?.replace(/^https?:\/\/[^/?]*/i, "") || "/";
      this.#pipelines.get(request.socket)?.enter(response, () => {
        if (isProbe(request.url ?? "")) handle(request, response);
        else void this.turns.forHead(senderOf(request)).then(() => handle(request, response));
      });
    };
    this.#server.off("request", this.#keep).on("request", accept);
    // Without a listener for these two, Node would answer on its own, before any key is looked at.
    this.#server.on("checkContinue", accept);
    this.#server.on("checkExpectation", accept);
    for (const request of this.#early.splice(0)) accept(...request);
  }

  /** Accepts nothing new and resolves when the last request has ended; `onLate` is called when that takes too long. */
  async drain(timeoutMs: number, onLate: () => void): Promise<void> {
    this.#isDraining = true;
    const closed = once(this.#server, "close");
    this.#server.close();
    // Connections that wait for their caller's next request, or its first.
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

/** Takes from Node's server what it does with every connection. */
function takeConnections(server: Server): (socket: Socket) => void {
  const listeners = server.listeners("connection") as ((socket: Socket) => void)[]; // what the event carries
  server.removeAllListeners("connection");
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

/**
 * Whether the connection was reset while it waited to be accepted. It is closed without being read, because a flood of them
 * that is accepted too slowly fills the queue in which everybody waits.
 */
const hasLeft = (socket: Socket): boolean => socket.remoteAddress === undefined;

/** What the operator reads of a connection that was refused. */
const refusedBy: Readonly<Record<SocketBound, string>> = {
  ofAll: "PARLEY_MAX_SOCKETS",
  ofAddress: "PARLEY_SOCKETS_PER_ADDRESS",
};

function boundsOf({ maxSockets, socketsPerAddress, trustedProxies }: Config): SocketBounds {
  const isTrusted = compileNetworks([...trustedProxies]);
  return { ofAll: maxSockets, ofAddress: socketsPerAddress, isProxy: (address) => isTrusted(address, 0) };
}

const logRefusals =
  (log: Log, refusals: RefusalSample): OnRefused =>
  (bound, address) => {
    const leftOut = refusals.next();
    if (leftOut !== undefined)
      log.warn({ address, setting: refusedBy[bound], left_out: leftOut || undefined }, "connection refused");
  };

/**
 * Connections that may wait to be accepted. Node's own number is 511. Beyond it Linux drops what arrives, and counts it in
 * `ListenOverflows`; the client tries again after a second. Linux itself allows 4,096 (`net.core.somaxconn`).
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
