import cluster from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import type { Config } from "../config/read-config.ts";
import type { Log } from "../observe/log.ts";
import type { ParentNews, WorkerSetup } from "./process-calls.ts";
import { WorkerProcess } from "./worker-process.ts";
import type { Shared } from "./worker-process.ts";
import type { WorkerTotals } from "./worker-totals.ts";

/** The workers of a server, and the parts that they share. */
export interface PoolOptions {
  readonly count: number;
  readonly setup: Omit<WorkerSetup, "worker">;
  readonly shared: Shared;
  readonly totals: WorkerTotals;
  readonly log: Log;
  /** Returns the states that a new worker needs. */
  readonly news: () => ParentNews;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** The server ends when a worker has ended so often in a row without having served for `soundMs` milliseconds. */
const maxFailures = 5;
const soundMs = 10_000;
/** Milliseconds before a worker is replaced, after its first failure and at most. */
const minPauseMs = 100;
const maxPauseMs = 5000;

/** Keeps the worker processes alive: a worker that ends is replaced by a new one with its number. */
export class WorkerPool implements AsyncDisposable {
  readonly #options: PoolOptions;
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #closing = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  readonly #keepers: Promise<void>[] = [];
  #setup: PoolOptions["setup"];
  #url = "";

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#setup = options.setup;
    cluster.setupPrimary({ args: ["worker"], serialization: "advanced" });
    // Perhaps nobody waits for it.
    this.#failed.promise.catch(() => undefined);
  }

  /** Rejects when the workers end at every start. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  get url(): string {
    return this.#url;
  }

  /** Starts all workers, and waits until they have opened the port. @throws {ListenError} {ConfigError} */
  async start(): Promise<void> {
    const numbers = Array.from({ length: this.#options.count }, (_, index) => index + 1);
    await Promise.all(
      numbers.map(async (number) => {
        const worker = await this.#fork(number);
        this.#keepers.push(this.#keep(worker));
      }),
    );
  }

  hear(news: ParentNews): void {
    for (const worker of this.#workers.values()) worker.hear(news);
  }

  /** Gives new settings to all workers, also to those that start. Returns when they have them. */
  async reload(config: Config): Promise<void> {
    this.#setup = { ...this.#setup, config };
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.reload(config)));
  }

  async whenReady(models: readonly string[]): Promise<void> {
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.whenReady(models)));
  }

  /** Updates the totals. */
  async observe(): Promise<void> {
    await Promise.all(
      Array.from(this.#workers.values(), async (worker) => {
        const numbers = await worker.observe();
        if (numbers && this.#workers.get(worker.number) === worker) this.#options.totals.note(worker.number, numbers);
      }),
    );
  }

  /** Tells all workers to accept no new requests, and waits until their running ones have ended. */
  async close(lameDuckMs: number): Promise<void> {
    this.#closing.abort();
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.close(lameDuckMs)));
    await Promise.all(this.#keepers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.end()));
    await Promise.all(this.#keepers);
  }

  async #fork(number: number): Promise<WorkerProcess> {
    const { shared, news } = this.#options;
    const worker = new WorkerProcess(number, cluster.fork(), shared);
    this.#workers.set(number, worker);
    try {
      this.#url = await worker.start({ ...this.#setup, worker: number });
      worker.hear(news());
      return worker;
    } catch (error) {
      await worker.end();
      this.#workers.delete(number);
      throw error;
    }
  }

  /** Replaces a worker each time when it ends, until the server closes. */
  async #keep(first: WorkerProcess): Promise<void> {
    const { log } = this.#options;
    const { number } = first;
    let failures = 0;
    let worker: WorkerProcess | string = first;
    while (!this.#closing.signal.aborted) {
      const startedMs = performance.now();
      const why: string = typeof worker === "string" ? worker : await this.#untilEnd(worker);
      if (this.#closing.signal.aborted) return;
      failures = performance.now() - startedMs < soundMs ? failures + 1 : 1;
      if (failures >= maxFailures) return this.#giveUp(why);
      const waitMs = Math.min(maxPauseMs, minPauseMs * 2 ** (failures - 1));
      log.error({ worker: number, reason: why }, `a worker has ended; a new one starts in ${waitMs} ms`);
      await wait(waitMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      if (!this.#closing.signal.aborted) worker = await this.#forkAgain(number);
    }
  }

  /** @returns the reason if it could not be started */
  async #forkAgain(number: number): Promise<WorkerProcess | string> {
    try {
      return await this.#fork(number);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Waits for the end of a worker, and gives back what its requests had taken. @returns the reason of its end */
  async #untilEnd(worker: WorkerProcess): Promise<string> {
    const { totals } = this.#options;
    const why = await worker.ended;
    this.#workers.delete(worker.number);
    totals.end(worker.number);
    void this.#release(worker);
    return why;
  }

  async #release(worker: WorkerProcess): Promise<void> {
    const { nowMs, log } = this.#options;
    try {
      const closed = await worker.release(nowMs(), this.#closing.signal);
      if (closed > 0) log.warn({ worker: worker.number, closed }, "requests of a worker that has ended were closed");
    } catch {
      // The server ends before the ledger could be written. Its next start closes the entries.
    }
  }

  #giveUp(why: string): void {
    this.#failed.reject(
      new Error(`A worker process ends again and again, so the server ends (${why}). Lines above may say more.`),
    );
  }
}
