import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** A request as it arrived. Times are in milliseconds since the server began to listen. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly atMs: number;
  /** The number of the request, from 0. */
  readonly index: number;
  /** The end of its connection, if it has ended while the case ran. */
  closedAtMs?: number;
  /** The bytes of the answer that the operating system has accepted. */
  takenBytes: number;
}

/** The answer to one request, written as raw bytes. Writing to a connection that is gone does nothing. */
export interface Wire {
  /** Writes bytes, and waits until the socket accepts more. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** Ends the connection after the written bytes, with FIN. */
  close(): void;
  /** Ends the connection at once, with RST. */
  reset(): void;
  /** The client has ended the connection. */
  readonly isGone: boolean;
  /** Resolves when the client ends the connection. */
  readonly gone: Promise<void>;
  /** Address of a second host, which records what it receives and answers with 401. */
  readonly otherBaseUrl: string;
}

export type Serve = (request: SeenRequest, wire: Wire) => Promise<void> | void;

export interface ScriptedServer extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  readonly connections: number;
  /** Resolves when the first request has arrived. */
  readonly reached: Promise<void>;
  now(): number;
}

/** Starts a server on loopback that writes exactly the bytes of its script. */
export async function startScriptedServer(serve: Serve, otherBaseUrl = ""): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const begunMs = performance.now();
  const now = (): number => performance.now() - begunMs;
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.setMaxListeners(0); // a connection has any number of requests
    socket.on("error", () => undefined); // clients that hang up are part of the script
    const own: SeenRequest[] = [];
    socket.once("close", () => {
      sockets.delete(socket);
      for (const request of own) request.closedAtMs ??= now();
    });
    void readRequests(socket, async (head, body) => {
      const request: SeenRequest = { ...head, body, atMs: now(), index: requests.length, takenBytes: 0 };
      requests.push(request);
      own.push(request);
      reach();
      await serve(request, wireOf(socket, request, otherBaseUrl));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
  return {
    port,
    requests,
    reached,
    now,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function wireOf(socket: Socket, request: SeenRequest, otherBaseUrl: string): Wire {
  const gone = new Promise<void>((resolve) => {
    if (socket.destroyed || socket.readableEnded) resolve();
    for (const event of ["close", "end"]) socket.once(event, () => resolve());
  });
  return {
    otherBaseUrl,
    gone,
    get isGone() {
      return socket.destroyed || socket.readableEnded;
    },
    async write(bytes) {
      if (socket.destroyed || socket.writableEnded) return;
      if (!socket.write(bytes)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), gone]);
      request.takenBytes += bytes.length;
    },
    close: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  };
}

type Head = Pick<SeenRequest, "method" | "target" | "headers">;

/** Reads requests from a connection and serves them one after the other. */
async function readRequests(socket: Socket, take: (head: Head, body: Buffer) => Promise<void>): Promise<void> {
  let rest = Buffer.alloc(0);
  let served = Promise.resolve();
  let isTold = false;
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = parseHead(rest.subarray(0, end).toString("latin1"));
      const length = bodyLength(head, rest.subarray(end + 4));
      if (length === undefined) {
        if (!isTold && /100-continue/i.test(headerOf(head, "expect"))) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
        isTold = true;
        return;
      }
      isTold = false;
      const body = length.body;
      rest = rest.subarray(end + 4 + length.taken);
      served = served.then(() => take(head, body)).catch(() => undefined); // its client is gone
    }
  });
  await served;
}

const headerOf = ({ headers }: Head, name: string): string =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? "";

function parseHead(text: string): Head {
  const [line = "", ...lines] = text.split("\r\n");
  const [method = "", target = ""] = line.split(" ");
  const headers = lines.map((header) => {
    const colon = header.indexOf(":");
    return [header.slice(0, colon), header.slice(colon + 1).trim()] as const;
  });
  return { method, target, headers };
}

/** Returns the body, and the bytes that it takes on the wire. Undefined: it has not arrived whole. */
function bodyLength(head: Head, bytes: Buffer): { readonly body: Buffer; readonly taken: number } | undefined {
  if (!/chunked/i.test(headerOf(head, "transfer-encoding"))) {
    const length = Number(headerOf(head, "content-length") || 0);
    return bytes.length < length ? undefined : { body: bytes.subarray(0, length), taken: length };
  }
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const end = lineEnd + 2 + size + 2;
    if (!(bytes.length >= end)) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), taken: end };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = end;
  }
}

/** Waits for a time, or until the client is gone. */
export const pause = (wire: Wire, ms: number): Promise<void> =>
  Promise.race([wait(ms, undefined, { ref: false }), wire.gone]);
