import { FairShare } from "./fair-share.ts";

/** Work of one key, and how much of it there is, in any unit. */
export interface FairJob {
  readonly keyId: string;
  readonly cost: number;
}

interface Waiting extends FairJob {
  readonly begin: () => void;
}

/**
 * Does so many pieces of work at a time. Of the keys that wait, the one that has been served least is next; among the work of
 * one key, first come, first served.
 */
export class FairQueue {
  readonly #width: number;
  readonly #share = new FairShare();
  /** In the order of arrival. */
  #waiting: readonly Waiting[] = [];
  #running = 0;

  constructor(width: number) {
    this.#width = width;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Does the work in its turn. When the signal aborts, work that waits is dropped. Work that runs keeps its place until it has
   * ended, and nobody waits for it any more.
   * @throws the signal's reason when it aborts first
   */
  async run<T>(job: FairJob, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const end = await this.enter(job, signal);
    return unlessAborted(signal, work().finally(end));
  }

  /**
   * Waits until it is the turn of some work. @returns what has to be called, once, when the work has ended
   * @throws the signal's reason when it aborts first
   */
  async enter(job: FairJob, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.#share.enter(job.keyId);
    try {
      await this.#turn(job, signal);
    } catch (error) {
      this.#share.leave(job.keyId);
      throw error;
    }
    return () => this.#end(job);
  }

  async #turn(job: FairJob, signal: AbortSignal): Promise<void> {
    if (this.#running < this.#width) return this.#take(job);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { ...job, begin: resolve };
    const drop = (): void => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      reject(reasonOf(signal));
    };
    signal.addEventListener("abort", drop, { once: true });
    this.#waiting = [...this.#waiting, waiting];
    await promise.finally(() => signal.removeEventListener("abort", drop));
  }

  #take({ keyId, cost }: FairJob): void {
    this.#running += 1;
    this.#share.beginTurn(keyId);
    this.#share.charge({ keyId, weight: 1 }, cost);
  }

  #end({ keyId }: FairJob): void {
    this.#running -= 1;
    this.#share.leave(keyId);
    const servedTo = (one: Waiting): number => this.#share.servedTo(one.keyId);
    const [first, ...others] = this.#waiting;
    if (first === undefined) return;
    const next = others.reduce((a, b) => (servedTo(a) <= servedTo(b) ? a : b), first);
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#take(next);
    next.begin();
  }
}

/** What the promise gives. @throws the signal's reason when it aborts first */
async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(reasonOf(signal));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error("aborted while waiting for a turn");
