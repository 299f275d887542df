import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Delivery } from "../engine.ts";
import { EventReader } from "./event-reader.ts";
import { gather } from "./gather.ts";
import { RefusedAnswer } from "./refused-answer.ts";

type Headers = Readonly<Record<string, string>>;

export interface ConnectionOptions {
  /** `http://host:port` or with a path in front of `/v1`; with a socket only the path is used. */
  readonly baseUrl: string;
  /** A unix socket to connect to instead of the host. */
  readonly socketPath?: string;
  readonly headers?: Headers;
  /** File with the certificates (PEM) that are believed. */
  readonly caFile?: string;
  /** The proxy to go through. */
  readonly proxyUrl?: string;
  /** Milliseconds without one byte after which an answer has failed; 0: no limit. */
  readonly silenceMs: number;
}

/** The data of server-sent events: a batch is what one read has brought, at least one event. */
export type EventBatches = AsyncGenerator<readonly string[]>;

/** Milliseconds for a connection to be opened. */
const connectMs = 10_000;

const loadUndici = async () => import("undici");
type Undici = Awaited<ReturnType<typeof loadUndici>>;

/** Loaded with the first request: undici has a hundred files, and the start of a server need not wait for them. */
let undici: Undici | undefined;

/** HTTP to one engine. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** The certificates that are believed; undefined: those of Node. */
  readonly #ca: Buffer | undefined;
  #dispatcher: Dispatcher | undefined;
  #isClosed = false;
  #awaited = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#ca = options.caFile === undefined ? undefined : readFileSync(options.caFile);
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** Answers whose next byte is being waited for. An answer that its reader does not read is not counted: the engine is not at fault. */
  get awaited(): number {
    return this.#awaited;
  }

  /**
   * Resolves with the first bytes of an answer to a POST: the data of its server-sent events, those of one read together.
   * It has to be read. Leaving the loop closes the connection, unless the last event was `[DONE]`.
   * @throws {RefusedAnswer} for any status but 200, or what the connection died of
   */
  async open(
    path: string,
    body: string,
    signal: AbortSignal,
    { isWhole = false }: Delivery,
    headers: Headers = {},
  ): Promise<EventBatches> {
    const answer = await this.#ask("POST", path, body, signal, headers);
    return this.#readEvents(answer.body, isWhole);
  }

  /** @throws {RefusedAnswer} for any status but 200, or what the connection died of */
  async read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    const answer = await this.#ask(body === undefined ? "GET" : "POST", path, body, signal);
    return answer.body.text();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#dispatcher?.destroy();
  }

  async #ask(
    method: "GET" | "POST",
    path: string,
    body: string | undefined,
    signal: AbortSignal,
    more: Headers = {},
  ): Promise<Dispatcher.ResponseData> {
    const headers = {
      ...this.#options.headers,
      ...more,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    this.#awaited += 1;
    try {
      const { request } = (undici ??= await loadUndici());
      const dispatcher = (this.#dispatcher ??= dispatcherFor(undici, this.#options, this.#ca));
      // It was closed while undici was loaded.
      if (this.#isClosed) await dispatcher.destroy();
      const url = `${this.#options.baseUrl}${path}`;
      const answer = await request(url, { dispatcher, method, headers, body: body ?? null, signal });
      if (answer.statusCode === 200) return answer;
      throw await RefusedAnswer.read(answer.statusCode, answer.body);
    } finally {
      this.#awaited -= 1;
    }
  }

  async *#readEvents(body: Readable, isWhole: boolean): EventBatches {
    const reader = new EventReader();
    let last: string | undefined;
    try {
      // An answer that has come to its end is left in a way that keeps its connection: see below.
      const bytes: AsyncIterator<Uint8Array> = isWhole ? gather(body) : body.iterator({ destroyOnReturn: false });
      for (;;) {
        this.#awaited += 1;
        const next = await bytes.next().finally(() => (this.#awaited -= 1));
        if (next.done === true) return;
        const events = reader.push(next.value);
        last = events.at(-1) ?? last;
        if (events.length > 0) yield events;
      }
    } finally {
      if (last === "[DONE]") endSoon(body);
      else body.destroy();
    }
  }
}

/** Milliseconds for an answer to end after its last event. */
const endMs = 1000;

/** Lets an answer end by itself, so that its connection can be used again. */
function endSoon(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), endMs).unref();
  body.on("error", () => undefined).on("close", () => clearTimeout(timer));
  body.resume();
}

function dispatcherFor(
  { Agent, ProxyAgent }: Undici,
  { socketPath, proxyUrl, silenceMs }: ConnectionOptions,
  ca: Buffer | undefined,
): Dispatcher {
  const tls = { ...(ca && { ca }) };
  const deadlines = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  if (proxyUrl !== undefined) return new ProxyAgent({ uri: proxyUrl, requestTls: tls, ...deadlines });
  const connect = { ...tls, timeout: connectMs, ...(socketPath !== undefined && { socketPath }) };
  return new Agent({ connect, ...deadlines });
}

const unconnected: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether nothing was sent at all: the connection could not be opened. */
export const isUnconnected = (error: unknown): boolean => unconnected.has(codeOf(error));

const silent: ReadonlySet<unknown> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Whether no byte came for `silenceMs`. */
export const isSilent = (error: unknown): boolean => silent.has(codeOf(error));

/** The code of a failed connection: of the operating system, or of undici. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
