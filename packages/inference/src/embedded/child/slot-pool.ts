import type { Slot } from "./slot.ts";

interface Waiter {
  readonly count: number;
  readonly take: (slots: Slot[]) => void;
}

/** Slots of one model. A request takes all slots that it needs at once, or waits; requests are served in order. */
export class SlotPool {
  readonly #free: Slot[];
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

  /** @throws the signal's reason when it aborts while waiting; RangeError when there will never be that many */
  async take(count: number, signal: AbortSignal): Promise<Slot[]> {
    if (count > this.size) throw new RangeError(`${count} slots were asked for and there are ${this.size}`);
    signal.throwIfAborted();
    if (this.#waiting.length === 0 && this.#free.length >= count) return this.#free.splice(0, count);
    return new Promise<Slot[]>((resolve, reject) => {
      const waiter: Waiter = {
        count,
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
  async release(slots: readonly Slot[]): Promise<void> {
    await Promise.all(slots.map((slot) => slot.clear()));
    this.#free.push(...slots);
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next && this.#free.length >= next.count; next = this.#waiting[0]) {
      this.#waiting.shift();
      next.take(this.#free.splice(0, next.count));
    }
  }
}
