import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../../errors/api-error.ts";
import type { Log } from "../../observe/log.ts";
import type { Lease } from "../lease.ts";
import type { CloseRecord, FinalUsage, OpenRecord, UsageLedger } from "./usage-ledger.ts";

/** The usage of a running request so far; undefined before the first event of the engine. Each change is a new object. */
interface UsageSource {
  readonly usage: EngineUsage | undefined;
}

/** A close record that the ledger does not have yet. */
interface Unwritten {
  readonly record: CloseRecord;
  readonly onRecorded: () => void;
}

interface Running {
  readonly row: OpenRecord;
  readonly meter: UsageSource;
  /** The usage that the ledger has. */
  written: EngineUsage | undefined;
}

/** Maximum share of the time that checkpoints may take. With many running requests, they are written less often. */
const maxShare = 0.05;

export const noUsage: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/** The end of a request that was admitted and did not run. */
const notRun: FinalUsage = { usage: noUsage, outcome: "failed", errorCode: undefined, costUsd: "0" };

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
    return [...this.#running].filter(({ row }) => row.isStream).length;
  }

  /**
   * Opens the entry of a request. Its lease closes it, and waits for the first attempt to write that, whether or not it
   * succeeds. An entry stays in the ledger, so a rollback closes it as failed, without usage.
   * @param onRecorded called when the ledger has the end of the request
   * @throws {ApiError} 503 `service_unavailable` when the entry cannot be written
   */
  async open(row: OpenRecord, meter: UsageSource, onRecorded: () => void): Promise<Lease<FinalUsage>> {
    try {
      if (!this.#isHealthy) throw new Error("the ledger could not be written a moment ago");
      await this.#ledger.open(row);
    } catch (error) {
      this.#fail(error);
      throw new ApiError(
        "service_unavailable",
        "Requests cannot be recorded at the moment, so none is taken. Try again later.",
        { retryAfterMs: 5000, cause: error },
      );
    }
    const running: Running = { row, meter, written: undefined };
    this.#running.add(running);
    const close = (final: FinalUsage): Promise<void> => {
      this.#running.delete(running);
      const record = { id: row.id, keyId: row.keyId, ...final, endedMs: this.#nowMs() };
      return this.#write({ record, onRecorded });
    };
    return { commit: close, rollback: () => close(notRun) };
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
    const news = [...this.#running]
      .map((running) => ({ running, usage: running.meter.usage, before: running.written }))
      .filter(({ usage, before }) => usage !== before);
    if (news.length === 0) return;
    // Marked before the write: usage that is counted during the write belongs to the next checkpoint.
    for (const { running, usage } of news) running.written = usage;
    try {
      await this.#ledger.checkpoint(news.map(({ running, usage = noUsage }) => ({ id: running.row.id, usage })));
    } catch (error) {
      for (const { running, before } of news) running.written = before;
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

/**
 * Closes the entries that a dead server left open, with the usage of their last checkpoint.
 * @returns the number of entries
 */
export async function closeAbandoned(ledger: UsageLedger, endedMs: number): Promise<number> {
  const entries = await ledger.abandoned();
  for (const { id, keyId, usage } of entries) {
    // The service took the answer away, so nobody pays for it (OPS-17).
    await ledger.close({ id, keyId, usage, outcome: "abandoned", errorCode: undefined, costUsd: "0", endedMs });
  }
  return entries.length;
}
