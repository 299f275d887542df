import { readFileSync } from "node:fs";
import { EngineError } from "../engine.ts";
import type { Delivery } from "../engine.ts";
import { transform } from "./transform.ts";
import type { RequestDispatcher } from "./connection-pool.ts";
import { EventReader } from "./event-reader.ts";
import { IncomingAnswer } from "./incoming-answer.ts";
import type { Waits } from "./incoming-answer.ts";
import { RefusedAnswerError } from "./refused-answer.ts";

type Headers = Readonly<Record<string, string>>;

export interface ConnectionOptions {
  /** `http://host:port` or with a path in front of `/v1`; with a socket only the path is used. */
  readonly baseUrl: string;
  /** A unix socket to connect to instead of the host. */
  readonly socketPath?: string;
  /** An IP address to connect to instead of resolving the host. */
  readonly address?: string;
  readonly headers?: Headers;
  /** A PEM file with the trusted certificates. */
  readonly caFile?: string;
  /** The URL of the proxy. */
  readonly proxyUrl?: string;
  /** An answer fails after this many milliseconds without a byte; 0: no limit. */
  readonly silenceMs: number;
}

/** The data of server-sent events. A batch holds the events that one read of the socket completed. It may be empty. */
export type EventBatches = AsyncGenerator<readonly string[]>;

/** The time in milliseconds for the body of a refusal. It is only for the log, so a caller does not wait longer for it. */
const refusalMs = 1000;

/** The maximum size of an answer that is read as a whole. */
const maxReadBytes = 16 * 2 ** 20;

const encoder = new TextEncoder();

const loadDispatcher = async () => import("./connection-pool.ts");

/** Loaded with the first request, so that the start of a server does not wait for the hundred files of undici. */
let dispatchers: Awaited<ReturnType<typeof loadDispatcher>> | undefined;

/** HTTP to one engine. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Scheme, host and port of the base URL. */
  readonly #origin: string;
  /** The path of the base URL, which precedes every path. */
  readonly #prefix: string;
  /** The trusted certificates; undefined: those of Node. */
  readonly #ca: Buffer | undefined;
  #dispatcher: RequestDispatcher | undefined;
  #isClosed = false;
  readonly #waits: Waits = { count: 0 };

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.baseUrl);
    this.#origin = origin;
    this.#prefix = pathname === "/" ? "" : pathname;
    this.#ca = options.caFile === undefined ? undefined : readFileSync(options.caFile);
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  get address(): string | undefined {
    return this.#options.address;
  }

  /**
   * The number of answers whose next byte is awaited. Answers that their readers do not read are not counted, because then the
   * engine is not at fault.
   */
  get awaited(): number {
    return this.#waits.count;
  }

  /**
   * Resolves when the first bytes of the answer to a POST arrive. The result yields the data of its server-sent events, those
   * of one read together, and must be read. Leaving the loop closes the connection, unless the last event was `[DONE]`.
   * @throws {RefusedAnswerError} for any status but 200, or what the connection died of
   */
  async open(
    path: string,
    body: string,
    signal: AbortSignal,
    { isWhole = false }: Delivery,
    headers: Headers = {},
  ): Promise<EventBatches> {
    return this.#readEvents(await this.#ask("POST", path, { body, signal, headers, isWhole }));
  }

  /**
   * @throws {RefusedAnswerError} for any status but 200, {EngineError} `protocol` for an answer of more than 16 MiB, or what
   * the connection died of
   */
  async read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    const answer = await this.#ask(body === undefined ? "GET" : "POST", path, { body, signal });
    const parts: Buffer[] = [];
    let size = 0;
    for await (const bytes of bytesOf(answer)) {
      parts.push(bytes);
      size += bytes.length;
      if (size > maxReadBytes) throw new EngineError("protocol", `the engine wrote more than 16 MiB for ${path}`);
    }
    return Buffer.concat(parts).toString();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#dispatcher?.destroy();
  }

  async #ask(
    method: "GET" | "POST",
    path: string,
    { body, signal, headers = {}, isWhole = false }: Asked,
  ): Promise<IncomingAnswer> {
    this.#waits.count += 1;
    try {
      dispatchers ??= await loadDispatcher();
      const dispatcher = (this.#dispatcher ??= dispatchers.openDispatcher({
        ...this.#options,
        origin: this.#origin,
        ca: this.#ca,
      }));
      // The connection was closed while undici was loading.
      if (this.#isClosed) await dispatcher.destroy();
      signal.throwIfAborted();
      const answer = new IncomingAnswer(signal, isWhole, this.#waits);
      const type = body === undefined ? {} : { "content-type": "application/json" };
      const all = { ...this.#options.headers, ...headers, ...type };
      dispatcher.dispatch(
        {
          origin: this.#origin,
          path: `${this.#prefix}${path}`,
          method,
          headers: all,
          // Encoded here, so that the body has its own memory. undici would copy a text into a shared slab of 64 KiB and keep
          // the slab until the answer ends.
          body: body === undefined ? null : encoder.encode(body),
        },
        answer,
      );
      const status = await answer.status;
      const { headers: answered } = answer;
      if (status === 200 && (answered["content-encoding"] ?? "identity") === "identity") return answer;
      const late = setTimeout(() => answer.leave(false), refusalMs);
      throw await RefusedAnswerError.read(status, answered, bytesOf(answer)).finally(() => clearTimeout(late));
    } finally {
      this.#waits.count -= 1;
    }
  }

  #readEvents(answer: IncomingAnswer): EventBatches {
    const reader = new EventReader();
    let isWhole = false;
    return transform(() => ({
      source: answer,
      transform: (bytes) => {
        const events = reader.push(bytes);
        isWhole ||= events.at(-1) === "[DONE]";
        return events;
      },
      onEnd: () => answer.leave(isWhole),
    }));
  }
}

interface Asked {
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  readonly headers?: Headers;
  readonly isWhole?: boolean;
}

const bytesOf = (answer: IncomingAnswer): AsyncGenerator<Buffer> =>
  transform(() => ({ source: answer, transform: (bytes) => bytes, onEnd: () => answer.leave(false) }));

const unconnected: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Checks if nothing was sent because the connection could not be opened. */
export const isUnconnected = (error: unknown): boolean => unconnected.has(codeOf(error));

const silent: ReadonlySet<unknown> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Checks if no byte arrived for `silenceMs`. */
export const isSilent = (error: unknown): boolean => silent.has(codeOf(error));

/** Returns the error code of a failed connection, from the operating system or from undici. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
