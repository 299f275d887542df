import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/**
 * Ways to end a stream: `whole` with `[DONE]`. The others fail with an error event. After it, `clean` sends the last chunk
 * of the body, `close` closes the connection without it, `late` does so after half a second, and `reset` resets the
 * connection. `name-first` and `name-last` end cleanly after an error event with a line `event: error`, before or after its data.
 */
export const ends = ["whole", "clean", "close", "late", "reset", "name-first", "name-last"] as const;
export type End = (typeof ends)[number];

/**
 * Pace of the events: one by one (`paced`), 300 KB of them at once together with the failure (`burst`), or 40 of them at once
 * for a client that takes 10 ms for each (`slow`).
 */
export const shapes = ["paced", "burst", "slow"] as const;
export type Shape = (typeof shapes)[number];

export const errorMessage = "The engine failed while it was writing the answer.";

const head = [
  "HTTP/1.1 200 OK",
  "content-type: text/event-stream; charset=utf-8",
  "cache-control: no-cache, no-transform",
  "x-accel-buffering: no",
  "x-request-id: req_measured",
].join("\r\n");

const event = (data: string): string => `data: ${data}\n\n`;
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const piece = (delta: object, finish: string | null = null): string =>
  event(
    JSON.stringify({
      id: "chatcmpl-measured",
      object: "chat.completion.chunk",
      created: 1764547200,
      model: "vendor/model-1",
      system_fingerprint: "fp_measured",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    }),
  );
const failure = event(
  JSON.stringify({
    error: { message: errorMessage, type: "api_error", param: null, code: "upstream_error" },
    request_id: "req_measured",
  }),
);

/**
 * A server that answers `POST /END/SHAPE/ID/v1/chat/completions` with a stream of this shape and end, in the bytes that
 * Parley would send. It is not Parley, because it has to end streams in every way.
 */
export class Upstream implements AsyncDisposable {
  readonly #server: Server;
  /** Chat requests by the id in their path. */
  readonly requests = new Map<string, number>();
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined); // a client that hangs up
      this.#serve(socket);
    });
  }

  static async open(): Promise<Upstream> {
    const server = createServer({ noDelay: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Upstream(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on TCP
  }

  #serve(socket: Socket): void {
    let bytes = "";
    socket.on("data", (data) => {
      bytes += data.toString("latin1");
      const request = /^\w+ (\S+) HTTP\/1\.([01])\r\n(.*?)\r\n\r\n/s.exec(bytes);
      const [all = "", path = "", minor = "", fields = ""] = request ?? [];
      const length = Number(/^content-length: *(\d+)/im.exec(fields)?.[1] ?? 0);
      const isChunked = /^transfer-encoding: *chunked/im.test(fields);
      if (!request || bytes.length < all.length + length || (isChunked && !bytes.endsWith("0\r\n\r\n"))) return;
      bytes = "";
      const [, end, shape, id = ""] = path.split("/");
      // LiteLLM's proxy asks other paths as well.
      if (path.endsWith("/chat/completions")) this.requests.set(id, (this.requests.get(id) ?? 0) + 1);
      void write(socket, end as End, shape as Shape, minor === "1"); // main.ts makes these paths
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

const fillers = { paced: 0, burst: 1000, slow: 40 } satisfies Record<Shape, number>;

/** @param isChunked false for a client of HTTP/1.0, whose body ends with the connection */
async function write(socket: Socket, end: End, shape: Shape, isChunked: boolean): Promise<void> {
  const deltas: readonly object[] = [
    { role: "assistant", content: "" },
    { content: "one" },
    ...Array.from({ length: fillers[shape] }, (_, index) => ({ content: ` ${index}${"x".repeat(99)}` })),
    { content: " two" },
  ];
  const toBytes = isChunked ? chunk : (text: string): string => text;
  const lastChunk = isChunked ? "0\r\n\r\n" : "";
  const events = deltas.map((delta) => toBytes(piece(delta)));
  socket.write(`${head}\r\n${isChunked ? "transfer-encoding: chunked" : "connection: close"}\r\n\r\n`);
  for (const one of shape === "paced" ? events : []) {
    socket.write(one);
    await wait(20);
  }
  const held = shape === "paced" ? "" : events.join("");
  const last = `${held}${toBytes(lastEvents[end])}`;
  if (end === "close") socket.write(last);
  else if (end === "late") await wait(500, socket.write(last));
  else if (end === "reset") socket.write(last, () => socket.resetAndDestroy());
  else socket.write(last + lastChunk);
  if (end === "close" || end === "late" || !isChunked) socket.end();
}

const lastEvents = {
  whole: piece({}, "stop") + event("[DONE]"),
  clean: failure,
  close: failure,
  late: failure,
  reset: failure,
  "name-first": `event: error\n${failure}`,
  "name-last": `${failure.trimEnd()}\nevent: error\n\n`,
} satisfies Record<End, string>;
