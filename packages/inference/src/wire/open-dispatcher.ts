import { Agent, ProxyAgent } from "undici";
import type { Dispatcher } from "undici";
import { ConnectionPool } from "./connection-pool.ts";
import type { AnswerHandler } from "./connection-pool.ts";
import { PausableClient } from "./pausable-client.ts";

export interface DispatcherOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** A unix socket to connect to instead of the host. */
  readonly socketPath?: string;
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
export function openDispatcher({ origin, socketPath, ca, proxyUrl, silenceMs }: DispatcherOptions): RequestDispatcher {
  const tls = { ...(ca && { ca }) };
  const deadlines = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  if (proxyUrl !== undefined) return new ProxyAgent({ uri: proxyUrl, requestTls: tls, ...deadlines });
  const connect = { ...tls, timeout: connectMs, ...(socketPath !== undefined && { socketPath }) };
  // With TLS, undici may use HTTP/2, where several answers share a connection, so none of them may pause it.
  if (new URL(origin).protocol === "https:") return new Agent({ connect, ...deadlines });
  return new ConnectionPool(() => new PausableClient(origin, connect, deadlines));
}
