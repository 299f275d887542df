import { FairShare } from "./fair-share.ts";

/** A job of one key, and its cost in any unit. */
export interface FairJob {
  readonly keyId: string;
  readonly cost: number;
}

interface Waiting extends FairJob {
  /** The arrival number, which grows with every job. */
  readonly arrival: number;
  readonly begin: () => void;
}

/**
 * The waiting jobs of one key, in the order of arrival. Adding and removing take constant time on average. A `Set` would be
 * slow: finding its first element takes longer the more elements in front of it were deleted.
 */
class WaitingList {
  #items: Waiting[] = [];
  readonly #removed = new Set<Waiting>();
  /** All elements before this index were removed. */
  #head = 0;

  get size(): number {
    return this.#items.length - this.#removed.size;
  }

  get first(): Waiting | undefined {
    for (; this.#head < this.#items.length; this.#head += 1) {
      const item = this.#items[this.#head];
      if (item && !this.#removed.has(item)) return item;
    }
    return undefined;
  }

  add(waiting: Waiting): void {
    this.#items.push(waiting);
  }

  remove(waiting: Waiting): void {
    this.#removed.add(waiting);
    if (this.#removed.size * 2 <= this.#items.length) return;
    this.#items = this.#items.filter((one) => !this.#removed.has(one));
    this.#removed.clear();
    this.#head = 0;
  }
}

/**
 * Runs up to `width` jobs at a time. The next job is taken from the waiting key that has been served least; jobs of one key
 * run in the order of arrival. Entering and leaving take constant time; choosing the next job takes time proportional to the
 * number of waiting keys.
 */
export class FairQueue {
  readonly #width: number;
  readonly #share = new FairShare();
  /** By key. No list is empty. */
  readonly #waiting = new Map<string, WaitingList>();
  #waitingCount = 0;
  #arrivals = 0;
  #running = 0;

  constructor(width: number) {
    this.#width = width;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  /**
   * Runs the job in its turn. When the signal aborts, a waiting job is dropped. A running job still counts until it has ended,
   * but its result is ignored.
   * @throws the signal's reason when it aborts first
   */
  async run<T>(job: FairJob, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const end = await this.enter(job, signal);
    return unlessAborted(signal, work().finally(end));
  }

  /**
   * Waits until it is the turn of a job.
   * @returns a function that must be called once when the job has ended
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
    const waiting: Waiting = { ...job, arrival: this.#arrivals, begin: resolve };
    const drop = (): void => {
      this.#remove(waiting);
      reject(reasonOf(signal));
    };
    signal.addEventListener("abort", drop, { once: true });
    this.#add(waiting);
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
    const next = this.#next();
    if (next === undefined) return;
    this.#remove(next);
    this.#take(next);
    next.begin();
  }

  /**
   * Returns the first job of the key that has been served least. Among keys that were served equally, the job that arrived
   * first.
   */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    let leastServed = Number.POSITIVE_INFINITY;
    for (const [keyId, { first }] of this.#waiting) {
      const served = this.#share.servedTo(keyId);
      if (first === undefined || served > leastServed) continue;
      if (next !== undefined && served === leastServed && first.arrival > next.arrival) continue;
      next = first;
      leastServed = served;
    }
    return next;
  }

  #add(waiting: Waiting): void {
    const ofKey = this.#waiting.get(waiting.keyId) ?? new WaitingList();
    ofKey.add(waiting);
    this.#waiting.set(waiting.keyId, ofKey);
    this.#arrivals += 1;
    this.#waitingCount += 1;
  }

  #remove(waiting: Waiting): void {
    const ofKey = this.#waiting.get(waiting.keyId);
    if (!ofKey) return;
    ofKey.remove(waiting);
    this.#waitingCount -= 1;
    if (ofKey.size === 0) this.#waiting.delete(waiting.keyId);
  }
}

/** Resolves with the value of the promise. @throws the signal's reason when it aborts first */
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
