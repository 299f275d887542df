import { settlesWithin } from "@parley/common/settles-within";
import type { Worker as ClusterWorker } from "node:cluster";
import type { GroupStore } from "../accounts/groups/group-store.ts";
import type { RequestIdempotency } from "../accounts/idempotency/idempotency-keys.ts";
import type { KeyStore } from "../accounts/keys/key-store.ts";
import type { RequestLedger } from "../accounts/ledger/usage-ledger.ts";
import type { LimitStore } from "../accounts/limits/limit-store.ts";
import type { Config } from "../config/read-config.ts";
import type { SlotQueue } from "../models/model-queue.ts";
import { CallChannel } from "./call-channel.ts";
import type { Remote } from "./call-channel.ts";
import { HeldIdempotency } from "./held-idempotency.ts";
import { HeldLedger } from "./held-ledger.ts";
import { HeldLimits } from "./held-limits.ts";
import { HeldSlots } from "./held-slots.ts";
import {
  groupCalls,
  idempotencyCalls,
  keyCalls,
  ledgerCalls,
  limitCalls,
  parentCalls,
  slotCalls,
  workerCalls,
} from "./process-calls.ts";
import type { Parent, ParentNews, Worker, WorkerSetup } from "./process-calls.ts";
import type { ProcessNumbers } from "./worker-totals.ts";

/** The parts of the parent that its workers use. */
export interface Shared extends Omit<Parent, "enter"> {
  readonly keys: Pick<KeyStore, "find" | "insert" | "update">;
  readonly groups: Pick<GroupStore, "findNamed">;
  readonly ledger: RequestLedger;
  readonly idempotency: RequestIdempotency;
  readonly limits: LimitStore;
  /** Returns the queue of a model; undefined before its engine is started. */
  readonly queueOf: (model: string) => SlotQueue | undefined;
}

/** Milliseconds that a worker has to end by itself, or to answer a scrape. */
const patienceMs = 2000;
const scrapeMs = 1000;

/** One worker process, with everything that its requests have taken from the parent. */
export class WorkerProcess {
  readonly number: number;
  /** Resolves when the process has ended, with the reason. */
  readonly ended: Promise<string>;
  readonly #process: ClusterWorker;
  readonly #channel: CallChannel;
  readonly #calls: Remote<Worker, keyof Worker>;
  readonly #entered = Promise.withResolvers<void>();
  readonly #limits: HeldLimits;
  readonly #slots: HeldSlots;
  readonly #ledger: HeldLedger;
  readonly #idempotency: HeldIdempotency;

  constructor(number: number, process: ClusterWorker, shared: Shared) {
    this.number = number;
    this.#process = process;
    this.#limits = new HeldLimits(shared.limits);
    this.#slots = new HeldSlots(shared.queueOf);
    this.#ledger = new HeldLedger(shared.ledger);
    this.#idempotency = new HeldIdempotency(shared.idempotency);
    this.#channel = new CallChannel({
      // The callback takes the error of a worker that is gone.
      send: (message) => void process.process.send(message as object, undefined, undefined, () => undefined),
      onMessage: (listener) => void process.on("message", listener),
    });
    this.#calls = this.#channel.remote(workerCalls);
    this.#channel.expose(keyCalls, shared.keys);
    this.#channel.expose(groupCalls, shared.groups);
    this.#channel.expose(limitCalls, this.#limits);
    this.#channel.expose(slotCalls, this.#slots);
    this.#channel.expose(ledgerCalls, this.#ledger);
    this.#channel.expose(idempotencyCalls, this.#idempotency);
    this.#channel.expose(parentCalls, { ...shared, enter: () => this.#entered.resolve() });
    this.ended = this.#whenEnded();
  }

  /** Starts its service. @returns the URL @throws {Error} the one of the worker, or the reason of its end */
  async start(setup: WorkerSetup): Promise<string> {
    await this.#unlessEnded(this.#entered.promise);
    return this.#unlessEnded(this.#calls.start(setup));
  }

  hear(news: ParentNews): void {
    void this.#calls.hear(news);
  }

  /** Gives it new settings. Waits until it has them, for a while. */
  async reload(config: Config): Promise<void> {
    await settlesWithin(
      this.#calls.reload(config).catch(() => undefined),
      patienceMs,
    );
  }

  /** Waits until the worker can send requests to the engines of these models, for a while. */
  async whenReady(models: readonly string[]): Promise<void> {
    await settlesWithin(
      this.#calls.whenReady(models).catch(() => undefined),
      patienceMs,
    );
  }

  /** Returns its numbers; undefined if it is starting or ending, or does not answer in time. */
  async observe(): Promise<ProcessNumbers | undefined> {
    let numbers: ProcessNumbers | undefined;
    const asked = this.#calls.observe().then(
      (answer) => void (numbers = answer),
      () => undefined,
    );
    await settlesWithin(asked, scrapeMs);
    return numbers;
  }

  /** Drains the worker, and ends its process. Never rejects: a worker that has ended is closed. */
  async close(lameDuckMs: number): Promise<void> {
    await this.#unlessEnded(this.#calls.close(lameDuckMs)).catch(() => undefined);
    await this.end();
  }

  /** Ends the process at once. */
  async end(): Promise<void> {
    if (this.#process.isConnected()) this.#process.process.disconnect();
    const timer = setTimeout(() => this.#process.process.kill("SIGKILL"), patienceMs);
    await this.ended;
    clearTimeout(timer);
  }

  /**
   * Gives back everything that the requests of the ended worker had taken, and closes their entries as abandoned.
   * @param signal aborts when the server ends
   * @returns the number of closed entries
   */
  async release(nowMs: number, signal: AbortSignal): Promise<number> {
    this.#slots.release();
    await this.#limits.release();
    const closed = await this.#ledger.release(nowMs, signal);
    await this.#idempotency.releaseAll(signal);
    return closed;
  }

  async #whenEnded(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#process.on("exit", (code, killedBy) => resolve(killedBy || `exit code ${code}`));
    this.#process.on("error", (error) => {
      // Without a process there is no exit.
      if (this.#process.process.pid === undefined) resolve(error.message);
    });
    const how = await promise;
    this.#channel.end();
    return how;
  }

  async #unlessEnded<T>(work: Promise<T>): Promise<T> {
    const ended = this.ended.then((how): never => {
      throw new Error(`the worker has ended (${how})`);
    });
    return Promise.race([work, ended]);
  }
}
