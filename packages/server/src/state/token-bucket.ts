/**
 * A token bucket for a limit per minute. It holds one minute's worth and refills evenly, so a burst up to the limit is
 * possible. Units can be given back. The level may become negative, if a cost is only known afterwards.
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

  /** Returns the units that can be taken now; negative while there is a debt. */
  remaining(nowMs: number): number {
    const gained = (Math.max(0, nowMs - this.#updatedMs) * this.limit) / 60_000;
    return Math.min(this.limit, this.#level + gained);
  }

  /** Returns the milliseconds until `amount` can be taken; 0 if now, `Infinity` if it is more than the limit. */
  waitMs(amount: number, nowMs: number): number {
    if (amount > this.limit) return Number.POSITIVE_INFINITY;
    return Math.max(0, Math.ceil(((amount - this.remaining(nowMs)) * 60_000) / this.limit));
  }

  /** Returns the milliseconds until the bucket is full again. */
  resetMs(nowMs: number): number {
    return Math.max(0, Math.ceil(((this.limit - this.remaining(nowMs)) * 60_000) / this.limit));
  }

  /** Takes an amount, even if it is not available. A negative amount gives units back. */
  take(amount: number, nowMs: number): void {
    this.#level = Math.min(this.limit, this.remaining(nowMs) - amount);
    this.#updatedMs = nowMs;
  }
}
