import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { Agent, ProxyAgent } from "undici";
import type { Dispatcher } from "undici";
import { PausableClient } from "./pausable-client.ts";
import type { PausableConnection } from "./pausable-client.ts";

/** A handler that is told which connection its answer will come from. */
export interface AnswerHandler extends Dispatcher.DispatchHandler {
  onConnection(connection: PausableConnection): void;
}

/**
 * Connections to one address, each with one request at a time. A free connection is found in constant time. undici's own pool
 * scans all connections, twice for each request and again when one ends.
 */
export class ConnectionPool {
  readonly #open: () => PausableClient;
  readonly #all = new Set<PausableClient>();
  /** The last one is used next. Unneeded ones stay idle until undici closes them. */
  readonly #free: PausableClient[] = [];
  #isDestroyed = false;

  constructor(open: () => PausableClient) {
    this.#open = open;
  }

  /** Connections that are open, or are being opened or ended. */
  get size(): number {
    return this.#all.size;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: AnswerHandler): void {
    const client = this.#free.pop() ?? this.#add();
    client.isFree = false;
    handler.onConnection(client);
    if (client.dispatch(options, handler)) this.#give(client);
  }

  /** Closes all connections and fails the requests on them. Every later request fails as well. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all(Array.from(this.#all, (client) => client.destroy()));
    this.#all.clear();
  }

  #add(): PausableClient {
    const client = this.#open();
    this.#all.add(client);
    client.on("drain", () => this.#give(client));
    client.on("disconnect", () => void this.#drop(client));
    client.on("connectionError", () => void this.#drop(client));
    // A request after the pool was destroyed fails like the ones before it.
    if (this.#isDestroyed) void client.destroy();
    return client;
  }

  #give(client: PausableClient): void {
    if (client.isFree || client.closed || client.destroyed) return;
    client.isFree = true;
    this.#free.push(client);
  }

  /** Forgets a client that has lost its connection. It could reconnect, but idle clients would pile up in memory. */
  async #drop(client: PausableClient): Promise<void> {
    if (client.closed || client.destroyed) return;
    const place = client.isFree ? this.#free.indexOf(client) : -1;
    if (place >= 0) this.#free.splice(place, 1);
    // `close` waits: if a request was about to be sent, the client connects again and sends it first.
    await client.close();
    this.#all.delete(client);
  }
}

export interface DispatcherOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** A unix socket to connect to instead of the host. */
  readonly socketPath?: string;
  /** An IP address to connect to instead of resolving the host. */
  readonly address?: string;
  /** The trusted certificates; undefined: those of Node. */
  readonly ca: Buffer | undefined;
  /** The URL of the proxy. */
  readonly proxyUrl?: string;
  /** An answer fails after this many milliseconds without a byte; 0: no limit. */
  readonly silenceMs: number;
}

/** Sends requests to one engine. */
export interface RequestDispatcher {
  dispatch(options: Dispatcher.DispatchOptions, handler: AnswerHandler): unknown;
  destroy(): Promise<void>;
}

/** The time limit for opening a connection, in milliseconds. */
const connectMs = 10_000;

/** Opens a dispatcher for requests through a proxy, over TLS, or over connections that can be paused. */
export function openDispatcher(options: DispatcherOptions): RequestDispatcher {
  const { origin, socketPath, address, ca, proxyUrl, silenceMs } = options;
  const tls = { ...(ca && { ca }) };
  const deadlines = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  if (proxyUrl !== undefined) return new ProxyAgent({ uri: proxyUrl, requestTls: tls, ...deadlines });
  const connect = {
    ...tls,
    timeout: connectMs,
    ...(socketPath !== undefined && { socketPath }),
    ...(address !== undefined && { lookup: always(address) }),
  };
  // With TLS, undici may use HTTP/2, where several answers share a connection, so none of them may pause it.
  if (new URL(origin).protocol === "https:") return new Agent({ connect, ...deadlines });
  return new ConnectionPool(() => new PausableClient(origin, connect, deadlines));
}

/** Resolves every name to the same address. */
const always =
  (address: string): LookupFunction =>
  (_name, { all }, done) => {
    const family = isIP(address);
    if (all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
