import type { Exchange } from "./exchange.ts";
import { Framer } from "./framer.ts";
import type { BodyPiece } from "./framer.ts";
import { readEvents } from "./read-events.ts";
import type { EventReading } from "./read-events.ts";

/** The answer of a server, parsed from the bytes of an exchange. */
export class Answer {
  readonly exchange: Exchange;
  readonly #framer: Framer;
  readonly pieces: readonly BodyPiece[];
  #events: EventReading | undefined;
  #json: { readonly value: unknown } | undefined;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
    this.#framer = new Framer(exchange.request.raw === undefined ? exchange.request.method : "GET");
    for (const received of exchange.received) this.#framer.push(received);
    this.pieces = this.#framer.body;
  }

  get name(): string {
    return this.exchange.name;
  }

  /** Undefined if there was no HTTP answer. */
  get status(): number | undefined {
    return this.#framer.status;
  }

  get interim(): readonly number[] {
    return this.#framer.interim;
  }

  /** The fault of the bytes as HTTP, if any. */
  get fault(): string | undefined {
    return this.#framer.fault;
  }

  /** Returns whether the body is complete, by the length or the coding in its head. */
  get isWhole(): boolean {
    return this.#framer.isDone || (this.#framer.endsWithConnection && this.exchange.end === "closed");
  }

  /** True if the server closes the connection after this answer, and says so. */
  get announcesClose(): boolean {
    return this.#framer.announcesClose;
  }

  get allHeaders(): readonly (readonly [name: string, value: string])[] {
    return this.#framer.headers;
  }

  /** Several headers of one name are joined with commas. */
  header(name: string): string | undefined {
    const values = this.#framer.headers.filter(([one]) => one === name).map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(", ");
  }

  /** Without parameters, in lower case. */
  get mediaType(): string {
    return (this.header("content-type") ?? "").split(";", 1).join("").trim().toLowerCase();
  }

  get text(): string {
    return Buffer.concat(this.pieces.map(({ bytes }) => bytes)).toString("utf8");
  }

  /** Undefined if the body is not JSON. */
  get json(): unknown {
    this.#json ??= { value: parseJson(this.text) };
    return this.#json.value;
  }

  get stream(): EventReading {
    this.#events ??= readEvents(this.pieces);
    return this.#events;
  }

  /** One line about it, for a report. */
  get summary(): string {
    const { end, received } = this.exchange;
    const size = received.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (this.status === undefined) return `no HTTP answer: ${this.fault ?? `${ends[end]} after ${size} bytes`}`;
    const cut = this.isWhole ? "" : `, cut off because ${ends[end]}`;
    const body = this.text.replaceAll(/\s+/g, " ").trim();
    const kind =
      this.mediaType === "application/json" || body === "" ? "" : ` (${this.mediaType || "no Content-Type"})`;
    const short = body.length > 240 ? `${body.slice(0, 240)}…` : body;
    return `status ${this.status}${kind}${cut} ${short === "" ? "without a body" : `with the body ${short}`}`;
  }
}

/** The ends of an exchange as clauses of a sentence. */
const ends: Readonly<Record<Exchange["end"], string>> = {
  complete: "the answer was complete",
  closed: "the server closed the connection",
  reset: "the server reset the connection",
  unreachable: "no connection could be opened",
  timeout: "the deadline passed",
  "too-large": "the answer was too large",
  disconnected: "the suite disconnected, as planned",
  aborted: "the run was ended",
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
