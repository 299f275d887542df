import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { assertLawful } from "@parley/server/testing";

/** An answer as it arrived over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection that sends exactly the given bytes, for tests of details that HTTP clients hide. */
export class RawConnection implements Disposable {
  readonly socket: Socket;
  /** Resolves when both sides have closed the connection, or it was reset. */
  readonly closed: Promise<unknown>;
  #bytes: Buffer = Buffer.alloc(0);
  #isOver = false;
  #news = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => void socket.once("close", resolve));
    socket.on("error", () => undefined); // a reset ends the connection, too
    socket.on("data", (chunk: Buffer) => this.#tell(Buffer.concat([this.#bytes, chunk])));
    socket.on("close", () => this.#tell(this.#bytes, true));
  }

  /** @param localAddress the address that the server sees */
  static async open(origin: string, localAddress?: string): Promise<RawConnection> {
    const { port, hostname: host } = new URL(origin);
    const socket = connect({ port: Number(port), host, localAddress });
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Sends one request and reads its answer. */
  ask(bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
    this.send(bytes);
    const [method = "", path = ""] = Buffer.from(bytes).toString("latin1").split(" ", 2);
    return this.read(method, path);
  }

  /** All bytes that have arrived and were not read as an answer. */
  get rest(): string {
    return this.#bytes.toString("latin1");
  }

  /** Reads the next answer, or undefined when the connection ends without one. The contract judges it, unless it is a 1xx. */
  async read(method = "GET", path = "/v1/models"): Promise<RawAnswer | undefined> {
    const head = await this.#upTo("\r\n\r\n");
    if (head === undefined) return undefined;
    const [line = "", ...fields] = head.split("\r\n");
    const headers = Object.fromEntries(fields.map(toField));
    const status = Number(line.split(" ")[1]);
    const body = status < 200 || method === "HEAD" ? "" : await this.#body(headers);
    if (status >= 200) assertLawful({ method, path, status, headers, body });
    return { status, headers, body };
  }

  async #body(headers: Readonly<Record<string, string>>): Promise<string> {
    const length = Number(headers["content-length"] ?? 0);
    if (headers["transfer-encoding"] !== "chunked") return this.#take(length);
    const chunks: string[] = [];
    for (;;) {
      const size = Number.parseInt((await this.#upTo("\r\n")) ?? "0", 16);
      chunks.push(await this.#take(size));
      await this.#take(2);
      if (size === 0) return chunks.join("");
    }
  }

  async #upTo(mark: string): Promise<string | undefined> {
    for (;;) {
      const end = this.#bytes.indexOf(mark);
      if (end >= 0) return (await this.#take(end + mark.length)).slice(0, end);
      if (this.#isOver) return undefined;
      await this.#news.promise;
    }
  }

  async #take(length: number): Promise<string> {
    while (this.#bytes.length < length && !this.#isOver) await this.#news.promise;
    const taken = this.#bytes.subarray(0, length).toString("utf8");
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  #tell(bytes: Buffer, isOver = false): void {
    this.#bytes = bytes;
    this.#isOver ||= isOver;
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

function toField(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Sends one request on a connection of its own. */
export async function exchange(origin: string, bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
  using connection = await RawConnection.open(origin);
  return await connection.ask(bytes);
}

/** Returns a request as text, with the headers after the request line. */
export const requestText = (line: string, headers: Readonly<Record<string, string>> = {}, body = ""): string =>
  [`${line} HTTP/1.1`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", body].join("\r\n");
