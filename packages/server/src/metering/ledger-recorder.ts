import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import type { Log } from "../observe/log.ts";
import { finalCost } from "./final-cost.ts";
import type { Ending } from "./final-cost.ts";
import type { CloseRecord, OpenRecord, Outcome, UsageLedger } from "./usage-ledger.ts";

/** An admitted request, for which `open` opens an entry. */
export interface AdmittedRequest extends OpenRecord {
  readonly promptTokens: number;
}

/** The final usage of a request, and its cost in US dollars. */
export interface FinalUsage {
  readonly usage: EngineUsage;
  readonly costUsd: string;
}

/** An entry that has been closed, or is being closed. */
export interface ClosedEntry extends FinalUsage {
  readonly written: Promise<void>;
  readonly recorded: Promise<void>;
}

/** The open ledger entry of a running request. */
export interface RunningEntry {
  /** Replaces the counts: `usage` is everything used so far. */
  count(usage: EngineUsage): void;
  /**
   * Closes the entry. Must be called once. The usage is returned at once. `written` resolves after the first attempt to
   * write it, whether or not that succeeds, and never rejects. `recorded` resolves when the ledger has it.
   */
  close(ending: Ending): ClosedEntry;
}

/** A close record that the ledger does not have yet. */
interface Unwritten {
  readonly record: CloseRecord;
  readonly onRecorded: () => void;
}

interface Running {
  readonly request: AdmittedRequest;
  /** Undefined before the first event of the engine. */
  usage: EngineUsage | undefined;
  isWritten: boolean;
}

/** Maximum share of the time that checkpoints may take. With many running requests, they are written less often. */
const maxShare = 0.05;

const noUsage: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/**
 * Records all running requests in the ledger. While the ledger cannot be written, new requests are refused, closes are
 * retried until they succeed, and the service reports that it is not ready.
 */
export class LedgerRecorder implements AsyncDisposable {
  readonly #ledger: UsageLedger;
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout;
  /** The running tick, or the last one. */
  #update: Promise<void> = Promise.resolve();
  readonly #running = new Set<Running>();
  #unwritten: Unwritten[] = [];
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
    return [...this.#running].filter(({ request }) => request.isStream).length;
  }

  /** @throws {ApiError} 503 `service_unavailable` when the entry cannot be written */
  async open(request: AdmittedRequest): Promise<RunningEntry> {
    try {
      if (!this.#isHealthy) throw new Error("the ledger could not be written a moment ago");
      await this.#ledger.open(request);
    } catch (error) {
      this.#fail(error);
      throw new ApiError(
        "service_unavailable",
        "Requests cannot be recorded at the moment, so none is taken. Try again later.",
        { retryAfterMs: 5000, cause: error },
      );
    }
    const running: Running = { request, usage: undefined, isWritten: true };
    this.#running.add(running);
    return {
      count: (usage) => {
        running.usage = usage;
        running.isWritten = false;
      },
      close: (ending) => this.#close(running, ending),
    };
  }

  #close(running: Running, ending: Ending): ClosedEntry {
    const { id, keyId, pricing } = running.request;
    const { outcome, errorCode } = ending;
    const usage = finalUsageOf(running, outcome);
    const costUsd = finalCost(usage, ending, pricing);
    this.#running.delete(running);
    const { promise: recorded, resolve: onRecorded } = Promise.withResolvers<void>();
    const record = { id, keyId, usage, outcome, errorCode, costUsd, endedMs: this.#nowMs() };
    return { usage, costUsd, written: this.#write({ record, onRecorded }), recorded };
  }

  async #write(unwritten: Unwritten): Promise<void> {
    try {
      await this.#ledger.close(unwritten.record);
      unwritten.onRecorded();
    } catch (error) {
      this.#unwritten.push(unwritten);
      this.#fail(error);
    }
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => void (this.#update = this.#tick()), ms).unref();
  }

  async #tick(): Promise<void> {
    const began = performance.now();
    await this.#catchUp();
    this.#timer = this.#later(Math.max(this.#everyMs, (performance.now() - began) / maxShare));
  }

  /** Retries the closes that failed, and writes the usage of running requests. */
  async #catchUp(): Promise<void> {
    try {
      for (let next = this.#unwritten[0]; next; next = this.#unwritten[0]) {
        await this.#ledger.close(next.record);
        this.#unwritten.shift();
        next.onRecorded();
      }
      if (!this.#isHealthy) await this.#ledger.assertWritable();
      await this.#checkpoint();
      if (!this.#isHealthy) this.#log.info("the ledger can be written again");
      this.#isHealthy = true;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes the usage of all running requests in one call. A server that is killed loses at most one interval of usage. */
  async #checkpoint(): Promise<void> {
    const news = [...this.#running].filter(({ isWritten }) => !isWritten);
    if (news.length === 0) return;
    // Marked before the write: usage that is counted during the write belongs to the next checkpoint.
    for (const running of news) running.isWritten = true;
    try {
      await this.#ledger.checkpoint(news.map(({ request, usage = noUsage }) => ({ id: request.id, usage })));
    } catch (error) {
      for (const running of news) running.isWritten = false;
      throw error;
    }
  }

  #fail(error: unknown): void {
    if (this.#isHealthy)
      this.#log.error({ err: error }, "the ledger cannot be written: new requests are refused until it can");
    this.#isHealthy = false;
  }

  /** Stops the timer, and writes all that is not written yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#update;
    clearTimeout(this.#timer);
    await this.#catchUp();
  }
}

/** A client that disconnects before the first event pays for the prompt. A request that fails before it is free. */
function finalUsageOf({ request, usage }: Running, outcome: Outcome): EngineUsage {
  return usage ?? (outcome === "cancelled" ? { ...noUsage, promptTokens: request.promptTokens } : noUsage);
}
