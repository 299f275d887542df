import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import type { Log } from "../observe/log.ts";
import { noUsage } from "./usage-ledger.ts";
import type { OpenRecord, Outcome, UsageLedger } from "./usage-ledger.ts";

/** The open ledger entry of a running request. */
export interface RunningEntry {
  /** The engine's counters so far. */
  count(usage: EngineUsage): void;
  /** Closes the row, once. */
  close(outcome: Outcome, errorCode: string | undefined): FinalUsage;
}

/** What a request has used in the end, and what it costs in US dollars. */
export interface FinalUsage {
  readonly usage: EngineUsage;
  readonly costUsd: string;
}

interface Entry {
  readonly record: OpenRecord;
  /** Undefined until the engine has reported something. */
  usage: EngineUsage | undefined;
  isWritten: boolean;
}

interface CloseRecord {
  readonly record: OpenRecord;
  readonly usage: EngineUsage;
  readonly outcome: Outcome;
  readonly errorCode: string | undefined;
  readonly endedMs: number;
}

/** Of the time of the event loop: many streams are written less often than few. */
const largestShare = 0.05;

/**
 * Keeps the ledger in step with the requests under way, also while the disk is full: a row that cannot be opened refuses
 * the request, one that cannot be closed is tried again until it can, and meanwhile the service says that it is not ready.
 */
export class LedgerRecorder implements Disposable {
  readonly #ledger: UsageLedger;
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout;
  readonly #running = new Set<Entry>();
  #unwritten: CloseRecord[] = [];
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
    return [...this.#running].filter(({ record }) => record.isStream).length;
  }

  /** @throws {ApiError} 503 `service_unavailable` when the row cannot be written */
  open(record: OpenRecord): RunningEntry {
    try {
      if (!this.#isHealthy) throw new Error("the ledger could not be written a moment ago");
      this.#ledger.open(record);
    } catch (error) {
      this.#fail(error);
      throw new ApiError(
        "service_unavailable",
        "Requests cannot be recorded at the moment, so none is taken. Try again later.",
        { retryAfterMs: 5000, cause: error },
      );
    }
    const entry: Entry = { record, usage: undefined, isWritten: true };
    this.#running.add(entry);
    return {
      count: (usage) => void Object.assign(entry, { usage, isWritten: false }),
      close: (outcome, errorCode) => this.#close(entry, outcome, errorCode),
    };
  }

  #close(entry: Entry, outcome: Outcome, errorCode: string | undefined): FinalUsage {
    const { record } = entry;
    const usage = usageOf(entry, outcome);
    this.#running.delete(entry);
    const closed: CloseRecord = { record, usage, outcome, errorCode, endedMs: this.#nowMs() };
    try {
      this.#write(closed);
    } catch (error) {
      this.#unwritten.push(closed);
      this.#fail(error);
    }
    return { usage, costUsd: this.#ledger.costOf(record, usage, outcome) };
  }

  #write({ record, usage, outcome, errorCode, endedMs }: CloseRecord): void {
    this.#ledger.close(record, usage, outcome, errorCode, endedMs);
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
      this.#checkpoint();
      if (!this.#isHealthy) this.#log.info("the ledger can be written again");
      this.#isHealthy = true;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What running requests have used so far, in one transaction: a killed server loses at most one interval of it. */
  #checkpoint(): void {
    const news = [...this.#running].filter(({ isWritten }) => !isWritten);
    this.#ledger.checkpoint(news.map(({ record, usage = noUsage }) => [record.id, usage] as const));
    for (const entry of news) entry.isWritten = true;
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

/** A client that disconnects before the first token pays for the prompt; a request that fails before it pays nothing. */
function usageOf({ record, usage }: Entry, outcome: Outcome): EngineUsage {
  return usage ?? (outcome === "cancelled" ? { ...noUsage, prompt_tokens: record.promptTokens } : noUsage);
}
