import type { Received } from "./exchange.ts";

/** A chunk of a body without its transfer coding. */
export interface BodyPiece {
  readonly atMs: number;
  readonly bytes: Buffer;
}

const maxHeadBytes = 262_144;

/**
 * Parses one HTTP answer from bytes that arrive in chunks of any size. It is lenient, and reports what it tolerated.
 *
 * The judge parses the wire on its own, on purpose: a library, or the parser of our client, would hide or correct faults.
 */
export class Framer {
  status: number | undefined;
  readonly headers: [name: string, value: string][] = [];
  readonly body: BodyPiece[] = [];
  /** Statuses of interim answers, such as 100. */
  readonly interim: number[] = [];
  fault: string | undefined;
  /** True if the server closes the connection after this answer, and says so. */
  announcesClose = false;
  #rest: Buffer = Buffer.alloc(0);
  #state: "head" | "length" | "chunk-size" | "chunk" | "trailer" | "to-the-end" | "done" = "head";
  #left = 0;
  readonly #method: string;

  constructor(method: string) {
    this.#method = method;
  }

  /** True for an answer to HEAD, which has no body. */
  get isHead(): boolean {
    return this.#method === "HEAD";
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  /** True if the end of the connection is the end of the answer. */
  get endsWithConnection(): boolean {
    return this.#state === "to-the-end";
  }

  push({ atMs, bytes }: Received): void {
    this.#rest = Buffer.concat([this.#rest, Buffer.from(bytes, "latin1")]);
    while (!this.isDone && this.fault === undefined && this.#advance(atMs));
  }

  #advance(atMs: number): boolean {
    if (this.#state === "head") return this.#readHead();
    if (this.#state === "chunk-size") return this.#readChunkSize();
    if (this.#state === "trailer") return this.#readTrailer();
    const wanted = this.#state === "to-the-end" ? this.#rest.length : Math.min(this.#left, this.#rest.length);
    if (wanted > 0) this.body.push({ atMs, bytes: this.#take(wanted) });
    this.#left -= wanted;
    if (this.#state === "length" && this.#left === 0) this.#state = "done";
    if (this.#state !== "chunk" || this.#left > 0 || this.#rest.length < 2) return false;
    this.#take(2);
    this.#state = "chunk-size";
    return true;
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  #line(mark: string): string | undefined {
    const end = this.#rest.indexOf(mark);
    if (end >= 0)
      return this.#take(end + mark.length)
        .toString("latin1")
        .slice(0, end);
    if (this.#rest.length > maxHeadBytes) this.fault = `no end of the head within ${maxHeadBytes} bytes`;
    return undefined;
  }

  #readHead(): boolean {
    if (this.#rest.length >= 5 && this.#rest.subarray(0, 5).toString("latin1") !== "HTTP/") {
      this.fault = "the bytes are not an HTTP answer";
      return false;
    }
    const head = this.#line("\r\n\r\n");
    if (head === undefined) return false;
    const [line = "", ...fields] = head.split("\r\n");
    const [, version, status] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(line) ?? [];
    if (status === undefined) {
      this.fault = `the status line is ${JSON.stringify(line.slice(0, 100))}`;
      return false;
    }
    if (Number(status) < 200) {
      this.interim.push(Number(status));
      return true;
    }
    this.status = Number(status);
    for (const field of fields) {
      const colon = field.indexOf(":");
      this.headers.push([field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]);
    }
    const connection = this.headers.filter(([name]) => name === "connection").map(([, value]) => value.toLowerCase());
    this.announcesClose =
      connection.some((value) => value.includes("close")) || (version === "0" && connection.length === 0);
    this.#chooseBody();
    return true;
  }

  #chooseBody(): void {
    const value = (wanted: string): string | undefined => this.headers.find(([name]) => name === wanted)?.[1];
    const length = value("content-length");
    const hasNone = this.#method === "HEAD" || this.status === 204 || this.status === 304;
    if (hasNone) this.#state = "done";
    else if (value("transfer-encoding")?.toLowerCase().includes("chunked") === true) this.#state = "chunk-size";
    else if (length === undefined) this.#state = "to-the-end";
    else {
      this.#left = Number(length);
      this.#state = this.#left > 0 ? "length" : "done";
      if (!Number.isSafeInteger(this.#left) || this.#left < 0) this.fault = `Content-Length is ${length}`;
    }
  }

  #readChunkSize(): boolean {
    const line = this.#line("\r\n");
    if (line === undefined) return false;
    const digits = /^\s*([0-9a-fA-F]{1,12})\s*(?:;.*)?$/.exec(line)?.[1];
    if (digits === undefined) {
      this.fault = `a chunk has the size ${JSON.stringify(line.slice(0, 40))}`;
      return false;
    }
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? "trailer" : "chunk";
    return true;
  }

  #readTrailer(): boolean {
    const line = this.#line("\r\n");
    if (line === undefined) return false;
    if (line === "") this.#state = "done";
    return true;
  }
}
