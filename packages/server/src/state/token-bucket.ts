import type { LimitRefusal, LimitState, LimitStates } from "../accounts/limits/limit-store.ts";

/** The two limits per minute of a key, or of all keys together. */
export interface Buckets {
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;
}

/** Returns the limit that a request over this amount exceeds, in any of the buckets; undefined if none. */
export function exceeded(
  limit: "requests" | "tokens",
  levels: readonly Buckets[],
  amount: number,
  nowMs: number,
): LimitRefusal | undefined {
  const waitMs = Math.max(...levels.map((level) => level[limit].waitMs(amount, nowMs)));
  const bound = Math.min(...levels.map((level) => level[limit].limit));
  return waitMs > 0 ? { limit, bound, waitMs } : undefined;
}

/** Returns the state of each limit, of the key or over all keys, whichever is tighter. */
export function statesOf(own: Buckets, overall: Buckets, nowMs: number): LimitStates {
  return {
    requests: tighter(own.requests, overall.requests, nowMs),
    tokens: tighter(own.tokens, overall.tokens, nowMs),
  };
}

function tighter(own: TokenBucket, overall: TokenBucket, nowMs: number): LimitState {
  const bucket = overall.remaining(nowMs) < own.remaining(nowMs) ? overall : own;
  return {
    limit: bucket.limit,
    remaining: Math.max(0, Math.floor(bucket.remaining(nowMs))),
    resetMs: bucket.resetMs(nowMs),
  };
}

/**
 * A token bucket for a limit per minute. It holds one minute's worth and refills evenly, so a burst up to the limit is
 * possible. Units can be given back. The level may become negative, if a cost is only known afterwards.
 */
export class TokenBucket {
  #limit: number;
  #level: number;
  #updatedMs: number;

  constructor(limit: number, nowMs: number, level = limit) {
    this.#limit = limit;
    this.#level = level;
    this.#updatedMs = nowMs;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Changes the limit. The part of the bucket that is left stays the same, so the time until it is full does, too. */
  resize(limit: number, nowMs: number): void {
    if (limit === this.#limit) return;
    this.#level = (this.remaining(nowMs) * limit) / this.#limit;
    this.#updatedMs = nowMs;
    this.#limit = limit;
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
