import { Big } from "big.js";
import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../../errors/api-error.ts";
import type { Log } from "../../observe/log.ts";
import type { Lease } from "../lease.ts";
import { tooExpensive } from "../money/budget-refusals.ts";
import type { CostBound } from "../money/budgets.ts";
import { priceOf } from "../money/price.ts";
import type {
  FinalUsage,
  Hold,
  KeyBudgets,
  LedgerEntry,
  OpenRecord,
  RequestLedger,
  UsageLedger,
} from "./usage-ledger.ts";

/**
 * Returns the usage of a running request so far; undefined before the first event of the engine. Each change is a new
 * object. The usage of a stream is what has been sent to its client: if the server dies, that is charged.
 */
type ReadUsage = () => EngineUsage | undefined;

/** A request that asks for an entry. */
export interface EntryRequest {
  readonly row: OpenRecord;
  readonly bound: CostBound;
  /** Undefined for a key without a budget: nothing is held. */
  readonly budgets: KeyBudgets | undefined;
}

/**
 * The open entry of a request. `commit` closes it, and waits for the first attempt to write that, whether or not it
 * succeeds. `rollback` removes it if its request has not run yet. Later it closes it as failed, without usage.
 */
export interface EntryLease extends Lease<FinalUsage> {
  /** Maximum number of completion tokens of each choice that the held money pays for. */
  readonly maxTokens: number;
  /** The request runs from now on. Its usage is written to the ledger at each checkpoint. */
  follow(readUsage: ReadUsage): void;
}

interface Running {
  readonly row: OpenRecord;
  readonly readUsage: ReadUsage;
  /** The usage that the ledger has. */
  written: EngineUsage | undefined;
}

/** Maximum share of the time that checkpoints may take. With many running requests, they are written less often. */
const maxShare = 0.05;
/** Maximum milliseconds between two checkpoints. */
const maxPauseMs = 2000;

export const noUsage: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/** The end of a request that was admitted and did not run. */
const notRun: FinalUsage = { usage: noUsage, outcome: "failed", errorCode: undefined, costUsd: "0" };

/**
 * Records all running requests in the ledger. While the ledger cannot be written, new requests are refused, closes are
 * retried until they succeed, and the service reports that it is not ready.
 */
export class LedgerRecorder implements AsyncDisposable {
  readonly #ledger: RequestLedger;
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #everyMs: number;
  readonly #probeMs: number;
  #probedMs = 0;
  #timer: NodeJS.Timeout;
  /** The running tick, or the last one. */
  #update: Promise<void> = Promise.resolve();
  readonly #running = new Set<Running>();
  /** Writes the ends of requests that the ledger does not have yet. */
  #unwritten: (() => Promise<void>)[] = [];
  #heldUsd = new Big(0);
  #isHealthy = true;

  /** @param probeMs milliseconds between two checks whether the ledger can be written, while no request shows it */
  constructor(
    ledger: RequestLedger,
    log: Log,
    nowMs: () => number,
    everyMs: number,
    probeMs: number = Number.POSITIVE_INFINITY,
  ) {
    this.#ledger = ledger;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#everyMs = everyMs;
    this.#probeMs = probeMs;
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

  /** The US dollars that the open entries of this server hold of budgets. */
  get heldUsd(): number {
    return this.#heldUsd.toNumber();
  }

  /**
   * Opens the entry of a request, and holds its maximum cost.
   * @throws {ApiError} 402 `insufficient_quota` if the budgets do not pay for it, 503 `service_unavailable` when the entry
   * cannot be written
   */
  async open(request: EntryRequest): Promise<EntryLease> {
    const { row } = request;
    const { maxTokens, heldUsd } = await this.#hold(request);
    this.#heldUsd = this.#heldUsd.plus(heldUsd);
    let running: Running | undefined;
    const end = (write: () => Promise<void>): Promise<void> => {
      if (running) this.#running.delete(running);
      return this.#write(async () => {
        await write();
        this.#heldUsd = this.#heldUsd.minus(heldUsd);
      });
    };
    const close = (final: FinalUsage): Promise<void> => {
      const { id, keyId, groupIds } = row;
      const record = { id, keyId, groupIds, ...final, endedMs: this.#nowMs() };
      return end(() => this.#ledger.close(record));
    };
    return {
      maxTokens,
      follow: (readUsage) => void this.#running.add((running = { row, readUsage, written: undefined })),
      commit: close,
      rollback: () => (running ? close(notRun) : end(() => this.#ledger.withdraw(row.id))),
    };
  }

  async #hold({ row, bound, budgets }: EntryRequest): Promise<Hold> {
    const opened = await this.#open(row, budgets && { budgets, bound });
    if (budgets === undefined || opened === undefined) return { maxTokens: bound.maxTokens, heldUsd: "0" };
    if ("maxTokens" in opened) return opened;
    throw tooExpensive(bound, opened, budgets, row.startedMs);
  }

  async #open(...[row, hold]: Parameters<UsageLedger["open"]>): ReturnType<UsageLedger["open"]> {
    try {
      if (!this.#isHealthy) throw new Error("the ledger could not be written a moment ago");
      return await this.#ledger.open(row, hold);
    } catch (error) {
      this.#fail(error);
      throw new ApiError(
        "service_unavailable",
        "Requests cannot be recorded at the moment, so none is taken. Try again later.",
        { retryAfterMs: 5000, cause: error, isLogged: true },
      );
    }
  }

  async #write(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#unwritten.push(write);
      this.#fail(error);
    }
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => void (this.#update = this.#tick()), ms).unref();
  }

  async #tick(): Promise<void> {
    const began = performance.now();
    await this.#catchUp();
    const pauseMs = Math.min(maxPauseMs, (performance.now() - began) / maxShare);
    // A failed attempt may have lasted for seconds, which says nothing about the cost of a checkpoint. The next one follows soon.
    this.#timer = this.#later(this.#isHealthy ? Math.max(this.#everyMs, pauseMs) : this.#everyMs);
  }

  /** Retries the closes that failed, and writes the usage of running requests. */
  async #catchUp(): Promise<void> {
    try {
      for (let next = this.#unwritten[0]; next; next = this.#unwritten[0]) {
        await next();
        this.#unwritten.shift();
      }
      if (!this.#isHealthy || performance.now() - this.#probedMs >= this.#probeMs) await this.#probe();
      await this.#checkpoint();
      if (!this.#isHealthy) this.#log.info("the ledger can be written again");
      this.#isHealthy = true;
    } catch (error) {
      this.#fail(error);
    }
  }

  async #probe(): Promise<void> {
    await this.#ledger.assertWritable();
    this.#probedMs = performance.now();
  }

  /** Writes the usage of all running requests in one call. A server that is killed loses at most one interval of usage. */
  async #checkpoint(): Promise<void> {
    const news = [...this.#running]
      .map((running) => ({ running, usage: running.readUsage(), before: running.written }))
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

/** Milliseconds between two searches for the entries of dead servers. */
const lookEveryMs = 5000;

/** Closes the entries of dead servers every few seconds, where servers share a ledger. */
export class AbandonedWatch implements AsyncDisposable {
  readonly #timer: NodeJS.Timeout;
  #round: Promise<unknown> = Promise.resolve();

  constructor(ledger: UsageLedger, log: Log, nowMs: () => number) {
    const look = async (): Promise<void> => {
      // A ledger that cannot be reached is reported by the recorder. The next round tries again.
      const closed = await closeAbandoned(ledger, nowMs()).catch(() => 0);
      if (closed > 0) log.warn({ closed }, "requests that another server had left open were closed");
    };
    this.#timer = setInterval(() => void (this.#round = this.#round.then(look)), lookEveryMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }
}

/**
 * Closes the entries that a dead server left open, with the usage of their last checkpoint.
 * @returns the number of entries
 */
export async function closeAbandoned(ledger: UsageLedger, endedMs: number): Promise<number> {
  const entries = await ledger.abandoned();
  for (const entry of entries) {
    const { id, keyId, groupIds, usage } = entry;
    const costUsd = abandonedCostOf(entry);
    await ledger.close({ id, keyId, groupIds, usage, outcome: "abandoned", errorCode: undefined, costUsd, endedMs });
  }
  return entries.length;
}

/** Returns the cost of what the client has received (OPS-19). An answer that is not streamed was not sent before its end. */
const abandonedCostOf = ({ isStream, usage, pricing }: LedgerEntry): string =>
  isStream && usage.completionTokens > 0 ? priceOf(usage, pricing) : "0";
