import type {
  LimitedKey,
  LimitLease,
  LimitRefusal,
  LimitState,
  LimitStates,
  LimitStore,
  PerMinute,
} from "../accounts/limits/limit-store.ts";

interface Buckets {
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;
}

/**
 * Keeps limits in the memory of one server. All buckets are full when it starts. Its methods are atomic because none of
 * them awaits.
 */
export class MemoryLimitStore implements LimitStore {
  readonly #nowMs: () => number;
  readonly #overall: Buckets;
  readonly #keys = new Map<string, Buckets>();
  /** Number of requests of each key that run or wait. */
  readonly #running = new Map<string, number>();

  constructor(overall: PerMinute, nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#overall = this.#newBuckets(overall);
  }

  async states(key: LimitedKey): Promise<LimitStates> {
    return this.#statesOf(this.#bucketsOf(key));
  }

  #statesOf(own: Buckets): LimitStates {
    return {
      requests: this.#tighter(own.requests, this.#overall.requests),
      tokens: this.#tighter(own.tokens, this.#overall.tokens),
    };
  }

  async take(key: LimitedKey): Promise<LimitLease | LimitRefusal> {
    const own = this.#bucketsOf(key);
    const levels = [own, this.#overall];
    const refusal = this.#exceeded("requests", levels, 1) ?? this.#crowd(key);
    if (refusal) return refusal;
    this.#change("requests", levels, 1);
    this.#enter(key.keyId, 1);
    let tokens = 0;
    let isOver = false;
    const end = (requests: number, usedTokens: number): void => {
      if (isOver) return;
      isOver = true;
      this.#change("requests", levels, requests);
      this.#change("tokens", levels, usedTokens - tokens);
      this.#enter(key.keyId, -1);
    };
    return {
      states: () => this.#statesOf(own),
      tokenLimit: Math.min(...levels.map((level) => level.tokens.limit)),
      takeTokens: async (wanted) => {
        const refusal = this.#exceeded("tokens", levels, wanted);
        if (refusal) return refusal;
        tokens = wanted;
        this.#change("tokens", levels, wanted);
        return undefined;
      },
      commit: async (usedTokens) => end(0, usedTokens),
      rollback: async () => end(-1, 0),
    };
  }

  #change(limit: "requests" | "tokens", levels: readonly Buckets[], amount: number): void {
    for (const level of levels) level[limit].take(amount, this.#nowMs());
  }

  #exceeded(limit: "requests" | "tokens", levels: readonly Buckets[], amount: number): LimitRefusal | undefined {
    const now = this.#nowMs();
    const waitMs = Math.max(...levels.map((level) => level[limit].waitMs(amount, now)));
    const bound = Math.min(...levels.map((level) => level[limit].limit));
    return waitMs > 0 ? { limit, bound, waitMs } : undefined;
  }

  #crowd({ keyId, concurrency: bound }: LimitedKey): LimitRefusal | undefined {
    const isFull = bound !== undefined && (this.#running.get(keyId) ?? 0) >= bound;
    return isFull ? { limit: "concurrency", bound, waitMs: 0 } : undefined;
  }

  #enter(keyId: string, places: number): void {
    const running = (this.#running.get(keyId) ?? 0) + places;
    if (running === 0) this.#running.delete(keyId);
    else this.#running.set(keyId, running);
  }

  #tighter(own: TokenBucket, overall: TokenBucket): LimitState {
    const now = this.#nowMs();
    const bucket = overall.remaining(now) < own.remaining(now) ? overall : own;
    return {
      limit: bucket.limit,
      remaining: Math.max(0, Math.floor(bucket.remaining(now))),
      resetMs: bucket.resetMs(now),
    };
  }

  #bucketsOf({ keyId, perMinute }: LimitedKey): Buckets {
    const known = this.#keys.get(keyId);
    if (known?.requests.limit === perMinute.requests && known.tokens.limit === perMinute.tokens) return known;
    const buckets = this.#newBuckets(perMinute);
    this.#keys.set(keyId, buckets);
    return buckets;
  }

  #newBuckets({ requests, tokens }: PerMinute): Buckets {
    return { requests: new TokenBucket(requests, this.#nowMs()), tokens: new TokenBucket(tokens, this.#nowMs()) };
  }
}

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
