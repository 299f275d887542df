import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A server that gives every request the same treatment. */
type Stub = (socket: Socket, request: string) => void;

const answer =
  (status: number, type: string, body: string): Stub =>
  (socket) => {
    socket.write(
      `HTTP/1.1 ${status} Stub\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  };

const json = (status: number, body: unknown): Stub => answer(status, "application/json", JSON.stringify(body));
const error = (type: string, code: string): unknown => ({
  error: { message: "No.", type, param: null, code },
  request_id: "r",
});

const later = (socket: Socket, delayMs: number, act: () => void): void => {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : act()), delayMs);
};
const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const chunk =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"f","choices":[{"index":0,"delta":{"content":"x"},"logprobs":null,"finish_reason":null}]}\n\n';

/** Servers that break every clause. The suite must not crash or hang, and no clause may pass. */
export const degenerateServers: Readonly<Record<string, Stub>> = {
  "always 200 with {}": json(200, {}),
  "always 400": json(400, error("invalid_request_error", "invalid_value")),
  "always 401": json(401, error("invalid_request_error", "invalid_api_key")),
  "always 500": json(500, error("server_error", "internal_error")),
  echo: (socket, request) =>
    answer(200, "application/json", request.split("\r\n\r\n").slice(1).join("\r\n\r\n"))(socket, request),
  "an HTML 502": answer(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>"),
  "accepts and says nothing": () => undefined,
  "closes at once": (socket) => socket.destroy(),
  "resets in the middle of a body": (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"id":');
    setTimeout(() => socket.resetAndDestroy(), 5);
  },
  "one byte per packet": (socket) => {
    const bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let at = 0;
    later(socket, 1, () => at < bytes.length && socket.write(bytes.charAt(at++)));
  },
  "a stream that never ends": (socket) => {
    socket.write(streamHead);
    later(socket, 5, () => socket.write(chunk));
  },
  "a body without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    later(socket, 1, () => socket.writableLength < 1e6 && socket.write("x".repeat(200_000)));
  },
  "a head without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    later(socket, 1, () => socket.writableLength < 1e6 && socket.write(`x-${"y".repeat(9000)}: z\r\n`));
  },
  garbage: (socket) => socket.write(Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 7919) % 256))),
  "a slow response": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n");
    later(socket, 100, () => socket.write(" "));
  },
  "a wrong chunked body": (socket) => socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"),
};

export interface DegenerateServer extends AsyncDisposable {
  readonly baseUrl: string;
}

export async function startDegenerate(stub: Stub): Promise<DegenerateServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let hasAnswered = false;
    socket.on("data", (bytes) => {
      if (!hasAnswered) stub(socket, bytes.toString("latin1"));
      hasAnswered = true;
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
