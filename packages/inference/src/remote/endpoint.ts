import type { EndpointAttempt, RequestOrigin } from "../engine.ts";
import { hashOf } from "../openai/conversation.ts";
import type { RoutedDelivery } from "../openai/upstream.ts";
import { transform } from "../wire/transform.ts";
import { backoffMs } from "../supervision/backoff.ts";
import { isShortage } from "../supervision/shortage.ts";
import { isUnconnected } from "../wire/connection.ts";
import type { Connection, EventBatches } from "../wire/connection.ts";
import { isDropped } from "../openai/fronts.ts";
import type { SessionNamer } from "../openai/fronts.ts";
import { RefusedAnswerError } from "../wire/refused-answer.ts";

/** The first and the maximum ejection time of a failing endpoint. */
const ejection = { firstMs: 1000, maxMs: 60_000 };

export interface EndpointOptions {
  /** Templates, see `fillHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no header needs a session id. */
  readonly sessionOf?: SessionNamer | undefined;
  /** The statuses with which a front says that it is full. */
  readonly busy?: readonly number[];
  /** True if a front stands at the address. When one of its engines fails, the others may still answer. */
  readonly hasSeveralEngines?: boolean;
  /** Receives the end of every generation that the endpoint was asked for. */
  readonly onAttempt?: ((attempt: EndpointAttempt) => void) | undefined;
}

/** One address that serves a model, with a circuit breaker: consecutive failures eject it for a growing time. */
export class Endpoint {
  readonly connection: Connection;
  /** Of its address: the same in every server and after a restart. */
  readonly hash: number;
  readonly #options: EndpointOptions;
  #inFlight = 0;
  #requestCount = 0;
  #failuresInARow = 0;
  /** The time on the clock of `performance.now()`. */
  #ejectedUntil = 0;
  #failureReason = "";

  constructor(connection: Connection, options: EndpointOptions) {
    this.connection = connection;
    this.hash = hashOf(`${connection.baseUrl} ${connection.address ?? ""}`);
    this.#options = options;
  }

  /** The number of requests whose answers are not complete. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The number of requests so far. Among endpoints with equally many in flight, the one with the fewest is next. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** The reason of its last ejection. */
  get failureReason(): string {
    return this.#failureReason;
  }

  /** True if its latest request failed. */
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

  /** Records that an answer arrives, and resets the failures. */
  recordSuccess(): void {
    this.#failuresInARow = 0;
    this.#ejectedUntil = 0;
  }

  /** Opens one answer. A failure of the endpoint, not of the request, ejects it. */
  async open(path: string, body: string, signal: AbortSignal, delivery: RoutedDelivery): Promise<EventBatches> {
    this.#inFlight += 1;
    this.#requestCount += 1;
    const startedMs = performance.now();
    try {
      const { headers: templates, sessionOf } = this.#options;
      const session = sessionOf?.(delivery.origin, delivery.conversation);
      const headers = fillHeaders(templates, delivery.origin, session);
      return this.#watch(await this.connection.open(path, body, signal, delivery, headers), signal, startedMs);
    } catch (error) {
      this.#end(signal.aborted ? "cancelled" : this.#recordFailure(error));
      throw error;
    }
  }

  #watch(events: EventBatches, signal: AbortSignal, startedMs: number): EventBatches {
    let firstEventMs: number | undefined;
    return transform(() => ({
      source: events,
      transform: (batch) => {
        this.recordSuccess();
        if (batch.length > 0) firstEventMs ??= performance.now() - startedMs;
        return batch;
      },
      onEnd: (_isWhole, failure) => {
        const judge = (): Outcome => {
          if (failure === undefined) return "answered";
          return this.#options.hasSeveralEngines === true ? "failed" : this.#recordFailure(failure);
        };
        this.#end(signal.aborted ? "cancelled" : judge(), firstEventMs);
      },
    }));
  }

  #end(outcome: Outcome, firstEventMs?: number): void {
    this.#inFlight -= 1;
    this.#options.onAttempt?.({ endpoint: nameOf(this.connection), outcome, firstEventMs });
  }

  async read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    try {
      return await this.connection.read(path, signal, body);
    } catch (error) {
      // A missing path does not count as a failure: routers have no `/version`.
      const isMissing = error instanceof RefusedAnswerError && error.status === 404;
      if (!signal.aborted && !isMissing) this.#recordFailure(error);
      throw error;
    }
  }

  /**
   * Ejects the endpoint, unless it refused only this one request, is full, or our own process had a shortage, or only one of the
   * engines behind it failed. Other refusals count, because every request fails where the model or our key is unknown.
   * @returns the outcome of the request that failed
   */
  #recordFailure(error: unknown): Outcome {
    const harmless = [400, 413, 422, ...(this.#options.busy ?? [])];
    if (error instanceof RefusedAnswerError && (harmless.includes(error.status) || isDropped(error))) return "refused";
    if (isShortage(error)) return "cancelled";
    if (this.#options.hasSeveralEngines === true && error instanceof RefusedAnswerError && error.status >= 500)
      return "failed";
    this.#failureReason = `${nameOf(this.connection)}: ${error instanceof Error ? error.message : String(error)}`;
    this.#ejectedUntil = performance.now() + backoffMs(this.#failuresInARow, ejection, () => 0.5 + Math.random() / 2);
    this.#failuresInARow += 1;
    return "failed";
  }
}

type Outcome = EndpointAttempt["outcome"];

/** Returns the name of an endpoint for the log and the metrics, without the credentials that a URL may have. */
function nameOf({ baseUrl, address }: Connection): string {
  const { origin, pathname } = new URL(baseUrl);
  const url = pathname === "/" ? origin : `${origin}${pathname}`;
  return address === undefined ? url : `${url} (${address})`;
}

/** Checks if another endpoint may be asked instead: this one has begun nothing, and its answer shows it. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof RefusedAnswerError) return [429, 502, 503, 529].includes(error.status) || isDropped(error);
  return isUnconnected(error);
}

/** The maximum length of a value, longer than any id. A longer header could make a server refuse the request. */
const maxCharacters = 256;

/**
 * Fills header templates with values of the caller: `{key}`, `{user}`, `{session}`, `{weight}`, `{request}`, `{trace}`,
 * `{metadata.NAME}`. A header whose value is missing is
 * left out. Characters that a header must not contain become `?`, so that a caller cannot add headers.
 */
export function fillHeaders(
  templates: Readonly<Record<string, string>>,
  origin: RequestOrigin | undefined,
  session?: string,
): Readonly<Record<string, string>> {
  const filled = Object.entries(templates).flatMap(([name, template]) => {
    let isComplete = true;
    const text = template.replaceAll(
      /\{(key|user|session|weight|request|trace|metadata\.([\w.-]+))\}/g,
      (_all, word: string, member?: string) => {
        const value = word === "session" ? session : valueOf(origin, word, member);
        isComplete &&= value !== undefined;
        return (value ?? "").replaceAll(/[^\x21-\x7e]/g, "?").slice(0, maxCharacters);
      },
    );
    return isComplete ? [[name, text] as const] : [];
  });
  return Object.fromEntries(filled);
}

function valueOf(origin: RequestOrigin | undefined, word: string, member: string | undefined): string | undefined {
  if (word === "key") return origin?.key;
  if (word === "user") return origin?.user;
  if (word === "weight") return origin?.weight?.toString();
  if (word === "request") return origin?.requestId;
  if (word === "trace") return origin?.traceparent;
  const { metadata = {} } = origin ?? {};
  return member !== undefined && Object.hasOwn(metadata, member) ? (metadata[member] ?? undefined) : undefined;
}
