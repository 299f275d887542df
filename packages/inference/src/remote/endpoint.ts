import type { RequestOrigin } from "../engine.ts";
import { backoffMs } from "../sidecar/backoff.ts";
import { isUnconnected } from "../wire/connection.ts";
import type { Connection } from "../wire/connection.ts";
import { RefusedAnswer } from "../wire/refused-answer.ts";
import { fillHeaders } from "./fill-headers.ts";

/** How long one that fails is left alone: at first, and at most. */
const ejection = { firstMs: 1000, mostMs: 60_000 };

/** One of the places where a model is served. */
export class Endpoint {
  readonly connection: Connection;
  readonly #headers: Readonly<Record<string, string>>;
  #inFlight = 0;
  #asked = 0;
  #failuresInARow = 0;
  #ejectedUntil = 0;
  #complaint = "";

  /** @param headers templates, see `fillHeaders` */
  constructor(connection: Connection, headers: Readonly<Record<string, string>>) {
    this.connection = connection;
    this.#headers = headers;
  }

  /** Answers under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Answers begun so far: of those with as little to do the one that was asked least comes next. */
  get asked(): number {
    return this.#asked;
  }

  /** Why it was left alone the last time. */
  get complaint(): string {
    return this.#complaint;
  }

  /** Whether it failed when it was last asked. */
  get isFailing(): boolean {
    return this.#failuresInARow > 0;
  }

  isEjected(now: number): boolean {
    return now < this.#ejectedUntil;
  }

  /** It may be asked at once, whatever it did before. */
  readmit(): void {
    this.#ejectedUntil = 0;
  }

  /** It has answered as it should. */
  forgive(): void {
    this.#failuresInARow = 0;
    this.#ejectedUntil = 0;
  }

  /** The data of one answer; a failure that is its own ejects it. */
  async *stream(path: string, body: string, signal: AbortSignal, origin?: RequestOrigin): AsyncGenerator<string> {
    this.#inFlight += 1;
    this.#asked += 1;
    try {
      for await (const data of this.connection.stream(path, body, signal, fillHeaders(this.#headers, origin))) {
        this.forgive();
        yield data;
      }
    } catch (error) {
      if (!signal.aborted) this.#blame(error);
      throw error;
    } finally {
      this.#inFlight -= 1;
    }
  }

  async read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    try {
      return await this.connection.read(path, signal, body);
    } catch (error) {
      // What it does not have, as routers have no `/version`, is no failure.
      const isMissing = error instanceof RefusedAnswer && error.status === 404;
      if (!signal.aborted && !isMissing) this.#blame(error);
      throw error;
    }
  }

  /** A refusal of this one request says nothing about the next; where the model or our key is unknown, every one fails. */
  #blame(error: unknown): void {
    if (error instanceof RefusedAnswer && [400, 413, 422].includes(error.status)) return;
    this.#complaint = `${this.connection.baseUrl}: ${error instanceof Error ? error.message : String(error)}`;
    this.#ejectedUntil = Date.now() + backoffMs(this.#failuresInARow, ejection, () => 0.5 + Math.random() / 2);
    this.#failuresInARow += 1;
  }
}

/** Whether another one may be asked instead: nothing has been begun, and this one says so itself. */
export function isWorthAnother(error: unknown): boolean {
  if (error instanceof RefusedAnswer) return [429, 502, 503].includes(error.status);
  return isUnconnected(error);
}
