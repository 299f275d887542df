import { ApiError } from "../errors/api-error.ts";

interface Waiter {
  readonly slots: number;
  readonly admit: () => void;
}

/**
 * The bounded queue in front of one model. First come, first served; a request takes all the slots that its choices
 * need at once. Who finds the queue full hears it at once, who waits too long is told to come back.
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
   * Resolves when the slots are the caller's; the result gives them back.
   * @throws {ApiError} 429 `capacity_exhausted`; the signal's reason when it aborts first
   */
  async enter(slots: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const isFree = this.#waiters.length === 0 && this.#taken + slots <= this.#slots();
    if (!isFree) await this.#wait(slots, signal);
    else this.#taken += slots;
    return () => {
      this.#taken -= slots;
      this.#admitNext();
    };
  }

  #wait(slots: number, signal: AbortSignal): Promise<void> {
    if (this.#waiters.length >= this.#maxWaiting)
      throw exhausted("All slots of this model are taken and its queue is full.");
    return new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
        if (reason !== undefined) reject(reason instanceof Error ? reason : new Error("gave up waiting"));
      };
      const waiter: Waiter = {
        slots,
        admit: () => {
          leave(undefined);
          this.#taken += slots;
          resolve();
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
    for (let next = this.#waiters[0]; next && this.#taken + next.slots <= this.#slots(); next = this.#waiters[0])
      next.admit();
  }
}

const exhausted = (what: string): ApiError =>
  new ApiError("capacity_exhausted", `${what} Try again in a moment.`, { retryAfterMs: 2000 });
