import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { isRecord } from "../src/judge/read.ts";
import { Framer } from "../src/wire/framer.ts";

/** A legal form of an HTTP response. Absent members change nothing. */
export interface Spelling {
  readonly headerName?: (name: string) => string;
  readonly headerValue?: (name: string, value: string) => string;
  readonly reason?: string;
  /** Informational responses (1xx) that are sent before the final one. */
  readonly interim?: string;
  /** Writes the body in chunks, each of at most this number of bytes, with extensions and a trailer. */
  readonly chunkBytes?: number;
  /** The end of the connection is the end of the body. */
  readonly endsWithConnection?: true;
  readonly closes?: true;
  /** Rewrites each JSON text, alone or in an event. */
  readonly json?: (text: string) => string;
  /** Answers a larger request by its head, and then closes or resets the connection. */
  readonly early413?: { readonly maxBytes: number; readonly isReset: boolean; readonly body: string };
}

/** JSON with other white space, with escapes, and with whole numbers in scientific notation. */
export function respelled(text: string): string {
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[ ${value.map(write).join(" ,\t")} ]`;
    if (isRecord(value))
      return `{ ${Object.entries(value)
        .map(([name, inner]) => `${escaped(name)} : ${write(inner)}`)
        .join(" , ")} }`;
    if (typeof value === "string") return escaped(value);
    return Number.isInteger(value) ? `${String(value)}.0e0` : JSON.stringify(value);
  };
  try {
    return ` ${write(JSON.parse(text))} `;
  } catch {
    return text;
  }
}

const escaped = (text: string): string =>
  `"${text
    .split("")
    .map((unit) => (/[a-z0-9]/.test(unit) ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`))
    .join("")}"`;

/** A relay in front of a server that passes requests on as they are, and writes the answers in another way. */
export async function startRelay(baseUrl: string, spelling: Spelling): Promise<AsyncDisposable & { baseUrl: string }> {
  const { port, pathname } = new URL(baseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    relay(client, upstream, spelling);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const own = (server.address() as AddressInfo).port; // it listens on a port, not on a pipe
  return {
    baseUrl: `http://127.0.0.1:${own}${pathname}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function relay(client: Socket, upstream: Socket, spelling: Spelling): void {
  let writer: AnswerWriter | undefined;
  client.on("data", (bytes) => {
    const [method = ""] = bytes.toString("latin1", 0, 16).split(" ", 1);
    const isNew = /^[A-Z]+$/.test(method);
    if (isNew && answeredEarly(client, bytes, spelling)) return void upstream.destroy();
    if (isNew || !writer) writer = new AnswerWriter(client, method, spelling);
    upstream.write(bytes);
  });
  upstream.on("data", (bytes) => writer?.push(bytes));
  upstream.on("close", (hasFailed) => (hasFailed ? client.resetAndDestroy() : writer?.end()));
  client.on("close", () => upstream.destroy());
}

function answeredEarly(client: Socket, bytes: Buffer, { early413 }: Spelling): boolean {
  const length = Number(/content-length: (\d+)/i.exec(bytes.toString("latin1", 0, 4096))?.[1] ?? 0);
  if (early413 === undefined || length <= early413.maxBytes) return false;
  client.pause();
  const { body, isReset } = early413;
  const head = `HTTP/1.1 413 Payload Too Large\r\nContent-Type: application/json\r\nx-request-id: ${idIn(body)}`;
  const link = 'link: </docs/errors/request_too_large>; rel="help"';
  client.write(
    `${head}\r\n${link}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => (isReset ? client.resetAndDestroy() : client.destroy()),
  );
  return true;
}

const idIn = (body: string): string => /"request_id":"([^"]+)"/.exec(body)?.[1] ?? "";

/** Writes one answer to the client while its bytes come from the server. */
class AnswerWriter {
  readonly #client: Socket;
  readonly #framer: Framer;
  readonly #spelling: Spelling;
  #headSent = false;
  #pieces = 0;
  #held = Buffer.alloc(0);
  #hasEnded = false;

  constructor(client: Socket, method: string, spelling: Spelling) {
    this.#client = client;
    this.#framer = new Framer(method);
    this.#spelling = spelling;
  }

  push(bytes: Buffer): void {
    this.#framer.push({ atMs: 0, bytes: bytes.toString("latin1") });
    if (this.#framer.status === undefined) return;
    for (const piece of this.#framer.body.slice(this.#pieces)) this.#held = Buffer.concat([this.#held, piece.bytes]);
    this.#pieces = this.#framer.body.length;
    this.#flush(this.#framer.isDone);
    if (this.#framer.isDone) this.end();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#framer.status === undefined || !this.#framer.isDone) return void this.#client.destroy();
    if (this.#isChunked && this.#hasBody) this.#client.write("0;last=1\r\nX-Trailer: seen\r\n\r\n");
    if (this.#closes) this.#client.end();
  }

  get #isStream(): boolean {
    return this.#framer.headers.some(([name, value]) => name === "content-type" && value.includes("event-stream"));
  }

  get #hasBody(): boolean {
    const isEmpty =
      this.#framer.status === 204 ||
      this.#framer.headers.some(([name, value]) => name === "content-length" && value === "0");
    return !isEmpty && !this.#framer.isHead;
  }

  get #isChunked(): boolean {
    return this.#spelling.chunkBytes !== undefined || (this.#isStream && this.#spelling.endsWithConnection !== true);
  }

  get #closes(): boolean {
    const { closes, endsWithConnection } = this.#spelling;
    return closes === true || endsWithConnection === true || this.#framer.announcesClose;
  }

  /** A stream goes out event by event, and any other body when it is whole. */
  #flush(isDone: boolean): void {
    const end = this.#isStream ? this.#held.lastIndexOf("\n\n") + 2 : isDone ? this.#held.length : -1;
    if (this.#isStream && !this.#headSent) this.#writeHead(undefined);
    if (end < (this.#isStream ? 2 : 0)) return;
    const ready = this.#respell(this.#held.subarray(0, end));
    this.#held = this.#held.subarray(end);
    if (!this.#headSent) this.#writeHead(ready);
    if (this.#hasBody) this.#writeBody(ready);
  }

  #respell(bytes: Buffer): Buffer {
    const { json } = this.#spelling;
    if (json === undefined || bytes.length === 0) return bytes;
    const text = bytes.toString("utf8");
    return Buffer.from(
      this.#isStream ? text.replaceAll(/^data: (\{.*\})$/gm, (_all, one: string) => `data: ${json(one)}`) : json(text),
    );
  }

  #writeHead(body: Buffer | undefined): void {
    this.#headSent = true;
    const { headerName = String, headerValue = (_name, value) => value, reason = "OK", interim = "" } = this.#spelling;
    const own = this.#framer.headers.filter(
      ([name]) => !/^(content-length|transfer-encoding|connection|keep-alive)$/.test(name),
    );
    const framing = !this.#hasBody
      ? this.#framer.status === 204
        ? []
        : [["content-length", "0"]]
      : this.#isChunked
        ? [["transfer-encoding", "chunked"]]
        : this.#spelling.endsWithConnection === true
          ? []
          : [["content-length", String(body?.length ?? 0)]];
    const connection = this.#closes ? [["connection", "close"]] : [];
    const lines = [...own, ...framing, ...connection].map(
      ([name = "", value = ""]) => `${headerName(name)}: ${headerValue(name, value)}`,
    );
    this.#client.write(
      `${interim}HTTP/1.1 ${this.#framer.status} ${reason}\r\n${lines.join("\r\n")}\r\n\r\n`,
      "latin1",
    );
  }

  #writeBody(bytes: Buffer): void {
    if (!this.#isChunked) return void this.#client.write(bytes);
    const size = this.#spelling.chunkBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      const chunk = bytes.subarray(at, at + size);
      this.#client.write(
        Buffer.concat([Buffer.from(`${chunk.length.toString(16)};a=b\r\n`), chunk, Buffer.from("\r\n")]),
      );
    }
  }
}
