import { ApiError } from "../errors/api-error.ts";

interface Waiter {
  readonly choices: number;
  readonly admit: () => void;
}

/**
 * The bounded queue in front of one model. First come, first served; a request takes a slot for each choice at once, or
 * all slots where it has more choices: those take turns. Who finds the queue full hears it at once, who waits too long is told to come back.
 */
export class ModelQueue {
  readonly #maxWaiting: number;
  readonly #maxWaitMs: number;
  /** Slots of the engine; it may change when the engine is started anew. */
  readonly #slots: () => number;
  #taken = 0;
  #waiters: Waiter[] = [];

  constructor(bounds: { readonly maxWaiting: number; readonly maxWaitMs: number }, slots: () => number) {
    this.#maxWaiting = bounds.maxWaiting;
    this.#maxWaitMs = bounds.maxWaitMs;
    this.#slots = slots;
  }

  get waiting(): number {
    return this.#waiters.length;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Resolves when the slots for that many choices are the caller's; the result gives them back.
   * @throws {ApiError} 429 `capacity_exhausted`; the signal's reason when it aborts first
   */
  async enter(choices: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const isFree = this.#waiters.length === 0 && this.#fits(choices);
    const slots = isFree ? this.#take(choices) : await this.#wait(choices, signal);
    return () => {
      this.#taken -= slots;
      this.#admitNext();
    };
  }

  #slotsFor(choices: number): number {
    return Math.min(choices, this.#slots());
  }

  #fits(choices: number): boolean {
    return this.#taken + this.#slotsFor(choices) <= this.#slots();
  }

  #take(choices: number): number {
    const slots = this.#slotsFor(choices);
    this.#taken += slots;
    return slots;
  }

  /** @returns the number of slots taken */
  #wait(choices: number, signal: AbortSignal): Promise<number> {
    if (this.#waiters.length >= this.#maxWaiting)
      throw exhausted("All slots of this model are taken and its queue is full.");
    return new Promise<number>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
        if (reason !== undefined) reject(reason instanceof Error ? reason : new Error("gave up waiting"));
      };
      const waiter: Waiter = {
        choices,
        admit: () => {
          leave(undefined);
          resolve(this.#take(choices));
        },
      };
      const giveUp = (reason: unknown): void => {
        leave(reason);
        this.#admitNext(); // whoever stood behind may fit
      };
      const onAbort = (): void => giveUp(signal.reason);
      const timer = setTimeout(() => giveUp(exhausted("No slot of this model became free in time.")), this.#maxWaitMs);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.push(waiter);
    });
  }

  #admitNext(): void {
    for (let next = this.#waiters[0]; next && this.#fits(next.choices); next = this.#waiters[0]) next.admit();
  }
}

const exhausted = (what: string): ApiError =>
  new ApiError("capacity_exhausted", `${what} Try again in a moment.`, { retryAfterMs: 2000 });
