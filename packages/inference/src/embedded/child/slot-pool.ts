import type { Slot } from "./slot.ts";

/** Ranks a slot for a request: the higher, the better it fits. */
export type Rank = (slot: Slot) => number;

interface Waiter {
  readonly count: number;
  readonly rank: Rank;
  readonly take: (slots: Slot[]) => void;
}

/**
 * Slots of one model. A request takes all slots that it needs at once, or waits; requests are served in order. It gets the
 * slots that it ranks highest; among equals, those that have been free for longest.
 */
export class SlotPool {
  #free: Slot[];
  readonly size: number;
  #waiting: Waiter[] = [];

  constructor(slots: readonly Slot[]) {
    this.#free = [...slots];
    this.size = slots.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.size - this.#free.length;
  }

  /** @throws the signal's reason when it aborts while waiting; RangeError when the pool has fewer slots than `count` */
  async take(count: number, signal: AbortSignal, rank: Rank = () => 0): Promise<Slot[]> {
    if (count > this.size) throw new RangeError(`${count} slots were asked for and there are ${this.size}`);
    signal.throwIfAborted();
    if (this.#waiting.length === 0 && this.#free.length >= count) return this.#takeFree(count, rank);
    return new Promise<Slot[]>((resolve, reject) => {
      const waiter: Waiter = {
        count,
        rank,
        take: (slots) => {
          signal.removeEventListener("abort", stopWaiting);
          resolve(slots);
        },
      };
      const stopWaiting = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiter);
        reject(signal.reason instanceof Error ? signal.reason : new Error("aborted while waiting for a slot"));
        this.#serve();
      };
      signal.addEventListener("abort", stopWaiting, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Resets the slots and passes them to waiting requests. */
  release(slots: readonly Slot[]): void {
    for (const slot of slots) slot.reset();
    this.#free.push(...slots);
    this.#serve();
  }

  #takeFree(count: number, rank: Rank): Slot[] {
    const taken = this.#free.toSorted((a, b) => rank(b) - rank(a)).slice(0, count);
    this.#free = this.#free.filter((slot) => !taken.includes(slot));
    return taken;
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next && this.#free.length >= next.count; next = this.#waiting[0]) {
      this.#waiting.shift();
      next.take(this.#takeFree(next.count, next.rank));
    }
  }
}
