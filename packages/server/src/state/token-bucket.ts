/**
 * A limit per minute: a bucket that holds one minute's worth and refills evenly, so that a burst up to the limit is
 * possible at once. What is taken may be given back, and a debt is possible where a cost was only known afterwards.
 */
export class TokenBucket {
  readonly limit: number;
  #level: number;
  #updatedMs: number;

  constructor(limit: number, nowMs: number) {
    this.limit = limit;
    this.#level = limit;
    this.#updatedMs = nowMs;
  }

  /** How much can be taken now; negative after a debt. */
  remaining(nowMs: number): number {
    const gained = (Math.max(0, nowMs - this.#updatedMs) * this.limit) / 60_000;
    return Math.min(this.limit, this.#level + gained);
  }

  /** Milliseconds until `amount` can be taken; 0: now. More than the limit can never be taken: Infinity. */
  waitMs(amount: number, nowMs: number): number {
    if (amount > this.limit) return Number.POSITIVE_INFINITY;
    return Math.max(0, Math.ceil(((amount - this.remaining(nowMs)) * 60_000) / this.limit));
  }

  /** Milliseconds until it is full again. */
  resetMs(nowMs: number): number {
    return Math.max(0, Math.ceil(((this.limit - this.remaining(nowMs)) * 60_000) / this.limit));
  }

  /** A negative amount gives back. */
  take(amount: number, nowMs: number): void {
    this.#level = Math.min(this.limit, this.remaining(nowMs) - amount);
    this.#updatedMs = nowMs;
  }
}
