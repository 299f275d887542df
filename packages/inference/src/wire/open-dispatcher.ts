import type { Socket } from "node:net";
import { Agent, buildConnector, Client, Pool, ProxyAgent } from "undici";
import type { Dispatcher } from "undici";

export interface DispatcherOptions {
  /** A unix socket to connect to instead of the host. */
  readonly socketPath?: string;
  /** The certificates that are believed; undefined: those of Node. */
  readonly ca: Buffer | undefined;
  /** The proxy to go through. */
  readonly proxyUrl?: string;
  /** Milliseconds without one byte after which an answer has failed; 0: no limit. */
  readonly silenceMs: number;
}

/** A connection that can be left unread for a while. What arrives meanwhile is read at once afterwards. */
export interface PausableConnection {
  pause(): void;
  resume(): void;
}

/** A handler that is told which connection its answer comes from, if that connection can be paused. */
export interface PausingHandler extends Dispatcher.DispatchHandler {
  onConnection(connection: PausableConnection): void;
}

/** Milliseconds for a connection to be opened. */
const connectMs = 10_000;

/** What sends requests to one engine, with a connection for each request that is running. */
export function openDispatcher({ socketPath, ca, proxyUrl, silenceMs }: DispatcherOptions): Dispatcher {
  const tls = { ...(ca && { ca }) };
  const deadlines = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  if (proxyUrl !== undefined) return new ProxyAgent({ uri: proxyUrl, requestTls: tls, ...deadlines });
  const connect = { ...tls, timeout: connectMs, ...(socketPath !== undefined && { socketPath }) };
  return new Agent({
    ...deadlines,
    // With TLS, several answers can share a connection (HTTP/2), so none of them may pause it.
    factory: (origin) =>
      new URL(origin).protocol === "https:"
        ? new Pool(origin, { connect, ...deadlines })
        : new Pool(origin, { factory: () => new PausableClient(new URL(origin), connect, deadlines) }),
  });
}

/** Where all sockets put what they read, until it is copied. */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/** One connection, whose socket can stop reading. The pause that undici offers stops its parser only. */
class PausableClient extends Client implements PausableConnection {
  #socket: Socket | null = null;

  constructor(origin: URL, options: buildConnector.BuildOptions, deadlines: Client.Options) {
    super(origin, { ...deadlines, connect: (asked, done) => this.#connect(options, asked, done) });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isPausing(handler)) handler.onConnection(this);
    return super.dispatch(options, handler);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    // It makes the socket read again, as `resume` does, without an event that nobody waits for.
    this.#socket?.read(0);
  }

  #connect(options: buildConnector.BuildOptions, asked: buildConnector.Options, done: buildConnector.Callback): void {
    let socket: Socket | null = null;
    const onread = {
      // Only a socket with a buffer of its own stops reading when it is paused.
      buffer: received,
      callback: (size: number, bytes: Uint8Array) => socket?.push(Buffer.from(bytes.subarray(0, size))) ?? false,
    };
    const open = buildConnector({ ...options, onread });
    open(asked, (...result) => {
      [, socket] = result;
      this.#socket = socket;
      done(...result);
    });
  }
}

const isPausing = (handler: Dispatcher.DispatchHandler): handler is PausingHandler => "onConnection" in handler;
