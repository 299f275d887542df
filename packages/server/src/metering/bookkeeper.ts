import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import type { Log } from "../observe/log.ts";
import { noUsage } from "./usage-ledger.ts";
import type { Opening, Outcome, UsageLedger } from "./usage-ledger.ts";

/** The open row of a request under way. */
export interface Account {
  /** The engine's counters so far. */
  count(usage: EngineUsage): void;
  /** Closes the row, once. */
  close(outcome: Outcome, errorCode: string | undefined): Bill;
}

/** What a request has used in the end, and what it costs in US dollars. */
export interface Bill {
  readonly usage: EngineUsage;
  readonly costUsd: string;
}

interface Entry {
  readonly opening: Opening;
  /** Undefined until the engine has said something. */
  usage: EngineUsage | undefined;
  isNoted: boolean;
}

interface Closing {
  readonly opening: Opening;
  readonly usage: EngineUsage;
  readonly outcome: Outcome;
  readonly errorCode: string | undefined;
  readonly endedMs: number;
}

/** Of the time of the event loop: many streams are noted less often than few. */
const largestShare = 0.05;

/**
 * Keeps the ledger in step with the requests under way, also while the disk is full: a row that cannot be opened refuses
 * the request, one that cannot be closed is tried again until it can, and meanwhile the service says that it is not ready.
 */
export class Bookkeeper implements Disposable {
  readonly #ledger: UsageLedger;
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout;
  readonly #running = new Set<Entry>();
  #unwritten: Closing[] = [];
  #isHealthy = true;

  constructor(ledger: UsageLedger, log: Log, nowMs: () => number, everyMs: number) {
    this.#ledger = ledger;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#everyMs = everyMs;
    this.#timer = this.#later(everyMs);
  }

  get isHealthy(): boolean {
    return this.#isHealthy;
  }

  get running(): number {
    return this.#running.size;
  }

  get streams(): number {
    return [...this.#running].filter(({ opening }) => opening.isStream).length;
  }

  /** @throws {ApiError} 503 `service_unavailable` when the row cannot be written */
  open(opening: Opening): Account {
    try {
      if (!this.#isHealthy) throw new Error("the ledger could not be written a moment ago");
      this.#ledger.open(opening);
    } catch (error) {
      this.#fail(error);
      throw new ApiError(
        "service_unavailable",
        "Requests cannot be recorded at the moment, so none is taken. Try again later.",
        { retryAfterMs: 5000, cause: error },
      );
    }
    const entry: Entry = { opening, usage: undefined, isNoted: true };
    this.#running.add(entry);
    return {
      count: (usage) => void Object.assign(entry, { usage, isNoted: false }),
      close: (outcome, errorCode) => this.#close(entry, outcome, errorCode),
    };
  }

  #close(entry: Entry, outcome: Outcome, errorCode: string | undefined): Bill {
    const { opening } = entry;
    const usage = usageOf(entry, outcome);
    this.#running.delete(entry);
    const closing: Closing = { opening, usage, outcome, errorCode, endedMs: this.#nowMs() };
    try {
      this.#write(closing);
    } catch (error) {
      this.#unwritten.push(closing);
      this.#fail(error);
    }
    return { usage, costUsd: this.#ledger.costOf(opening, usage, outcome) };
  }

  #write({ opening, usage, outcome, errorCode, endedMs }: Closing): void {
    this.#ledger.close(opening, usage, outcome, errorCode, endedMs);
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const began = performance.now();
      this.#tick();
      this.#timer = this.#later(Math.max(this.#everyMs, (performance.now() - began) / largestShare));
    }, ms).unref();
  }

  #tick(): void {
    try {
      for (let next = this.#unwritten[0]; next; next = this.#unwritten[0]) {
        this.#write(next);
        this.#unwritten.shift();
      }
      if (!this.#isHealthy) this.#ledger.assertWritable();
      this.#noteRunning();
      if (!this.#isHealthy) this.#log.info("the ledger can be written again");
      this.#isHealthy = true;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What running requests have used so far, in one transaction: a killed server loses at most one interval of it. */
  #noteRunning(): void {
    const news = [...this.#running].filter(({ isNoted }) => !isNoted);
    this.#ledger.note(news.map(({ opening, usage = noUsage }) => [opening.id, usage] as const));
    for (const entry of news) entry.isNoted = true;
  }

  #fail(error: unknown): void {
    if (this.#isHealthy)
      this.#log.error({ err: error }, "the ledger cannot be written: new requests are refused until it can");
    this.#isHealthy = false;
  }

  /** Writes what is left. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#tick();
  }
}

/** Who leaves before the engine has said anything has had the prompt read; who fails has had nothing. */
function usageOf({ opening, usage }: Entry, outcome: Outcome): EngineUsage {
  return usage ?? (outcome === "cut" ? { ...noUsage, prompt_tokens: opening.promptTokens } : noUsage);
}
