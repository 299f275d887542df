import type { Delivery } from "../engine.ts";
import { transform } from "../wire/transform.ts";
import { backoffMs } from "../sidecar/backoff.ts";
import { isShortage } from "../sidecar/shortage.ts";
import { isUnconnected } from "../wire/connection.ts";
import type { Connection, EventBatches } from "../wire/connection.ts";
import { RefusedAnswerError } from "../wire/refused-answer.ts";
import { fillHeaders } from "./fill-headers.ts";

/** How long a failing endpoint is ejected: at first, and at most. */
const ejection = { firstMs: 1000, maxMs: 60_000 };

/** One address where a model is served, with a circuit breaker: failures in a row eject it for a growing time. */
export class Endpoint {
  readonly connection: Connection;
  readonly #headers: Readonly<Record<string, string>>;
  #inFlight = 0;
  #requestCount = 0;
  #failuresInARow = 0;
  /** On the clock of `performance.now()`. */
  #ejectedUntil = 0;
  #failureReason = "";

  /** @param headers templates, see `fillHeaders` */
  constructor(connection: Connection, headers: Readonly<Record<string, string>>) {
    this.connection = connection;
    this.#headers = headers;
  }

  /** Requests whose answers are not complete. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Requests so far: of several endpoints with as many in flight, the one with the fewest comes next. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** Why it was ejected the last time. */
  get failureReason(): string {
    return this.#failureReason;
  }

  /** Whether its latest request failed. */
  get isFailing(): boolean {
    return this.#failuresInARow > 0;
  }

  /** @param now on the clock of `performance.now()` */
  isEjected(now: number): boolean {
    return now < this.#ejectedUntil;
  }

  /** Ends an ejection early. */
  reinstate(): void {
    this.#ejectedUntil = 0;
  }

  /** An answer arrives: resets the failures. */
  recordSuccess(): void {
    this.#failuresInARow = 0;
    this.#ejectedUntil = 0;
  }

  /** Opens one answer. A failure of the endpoint, not of the request, ejects it. */
  async open(path: string, body: string, signal: AbortSignal, delivery: Delivery): Promise<EventBatches> {
    this.#inFlight += 1;
    this.#requestCount += 1;
    try {
      const headers = fillHeaders(this.#headers, delivery.origin);
      return this.#watch(await this.connection.open(path, body, signal, delivery, headers), signal);
    } catch (error) {
      this.#inFlight -= 1;
      if (!signal.aborted) this.#recordFailure(error);
      throw error;
    }
  }

  #watch(events: EventBatches, signal: AbortSignal): EventBatches {
    return transform(() => ({
      source: events,
      transform: (batch) => {
        this.recordSuccess();
        return batch;
      },
      onEnd: (_isWhole, failure) => {
        this.#inFlight -= 1;
        if (failure !== undefined && !signal.aborted) this.#recordFailure(failure);
      },
    }));
  }

  async read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    try {
      return await this.connection.read(path, signal, body);
    } catch (error) {
      // A path that it does not have is no failure: routers have no `/version`.
      const isMissing = error instanceof RefusedAnswerError && error.status === 404;
      if (!signal.aborted && !isMissing) this.#recordFailure(error);
      throw error;
    }
  }

  /** A refusal of this one request says nothing about the next, and a shortage of ours nothing about the endpoint. Where the model or our key is unknown, every request fails. */
  #recordFailure(error: unknown): void {
    if (error instanceof RefusedAnswerError && [400, 413, 422].includes(error.status)) return;
    if (isShortage(error)) return;
    this.#failureReason = `${this.connection.baseUrl}: ${error instanceof Error ? error.message : String(error)}`;
    this.#ejectedUntil = performance.now() + backoffMs(this.#failuresInARow, ejection, () => 0.5 + Math.random() / 2);
    this.#failuresInARow += 1;
  }
}

/** Whether another endpoint may be asked instead: nothing was begun here, and the endpoint itself says so. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof RefusedAnswerError) return [429, 502, 503].includes(error.status);
  return isUnconnected(error);
}
