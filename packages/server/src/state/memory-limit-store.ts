import type {
  LimitedKey,
  LimitLease,
  LimitRefusal,
  LimitStates,
  LimitStore,
  PerMinute,
} from "../accounts/limits/limit-store.ts";
import { exceeded, statesOf, TokenBucket } from "./token-bucket.ts";
import type { Buckets } from "./token-bucket.ts";

/**
 * Keeps limits in the memory of one server. All buckets are full when it starts. Its methods are atomic because none of
 * them awaits.
 */
export class MemoryLimitStore implements LimitStore {
  readonly #nowMs: () => number;
  readonly #start: "full" | "empty";
  readonly #startedMs: number;
  readonly #overallBuckets: Buckets;
  #overallLimits: PerMinute;
  readonly #keys = new Map<string, Buckets>();
  /** Number of requests of each key that run or wait. */
  readonly #running = new Map<string, number>();

  /**
   * @param overall limits over all keys; its values may change
   * @param start the level of each bucket now, also of those that are used later for the first time
   */
  constructor(overall: PerMinute, nowMs: () => number, start: "full" | "empty" = "full") {
    this.#nowMs = nowMs;
    this.#start = start;
    this.#startedMs = nowMs();
    this.#overallLimits = overall;
    this.#overallBuckets = this.#newBuckets(overall);
  }

  async states(key: LimitedKey): Promise<LimitStates> {
    return statesOf(this.#bucketsOf(key), this.#overall, this.#nowMs());
  }

  async take(key: LimitedKey): Promise<LimitLease | LimitRefusal> {
    // Another call may have changed the limits of the key since, so each use gives them the values of this lease.
    const levels = (): readonly [own: Buckets, overall: Buckets] => [this.#bucketsOf(key), this.#overall];
    const refusal = exceeded("requests", levels(), 1, this.#nowMs()) ?? this.#crowd(key);
    if (refusal) return refusal;
    this.#change("requests", levels(), 1);
    this.#enter(key.keyId, 1);
    let tokens = 0;
    let isOver = false;
    const end = (requests: number, usedTokens: number): void => {
      if (isOver) return;
      isOver = true;
      this.#change("requests", levels(), requests);
      this.#change("tokens", levels(), usedTokens - tokens);
      this.#enter(key.keyId, -1);
    };
    return {
      states: () => statesOf(...levels(), this.#nowMs()),
      tokenLimit: Math.min(...levels().map((level) => level.tokens.limit)),
      takeTokens: async (wanted) => {
        const refusal = exceeded("tokens", levels(), wanted, this.#nowMs());
        if (refusal) return refusal;
        tokens = wanted;
        this.#change("tokens", levels(), wanted);
        return undefined;
      },
      commit: async (usedTokens) => end(0, usedTokens),
      rollback: async () => end(-1, 0),
    };
  }

  #change(limit: "requests" | "tokens", levels: readonly Buckets[], amount: number): void {
    for (const level of levels) level[limit].take(amount, this.#nowMs());
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

  #bucketsOf({ keyId, perMinute }: LimitedKey): Buckets {
    const known = this.#keys.get(keyId);
    if (known) this.#resize(known, perMinute);
    const buckets = known ?? this.#newBuckets(perMinute);
    if (!known) this.#keys.set(keyId, buckets);
    return buckets;
  }

  /** Replaces the limits over all keys. A bucket that was half full is half full afterwards. */
  resize(overall: PerMinute): void {
    this.#overallLimits = overall;
  }

  get #overall(): Buckets {
    this.#resize(this.#overallBuckets, this.#overallLimits);
    return this.#overallBuckets;
  }

  #resize(buckets: Buckets, { requests, tokens }: PerMinute): void {
    buckets.requests.resize(requests, this.#nowMs());
    buckets.tokens.resize(tokens, this.#nowMs());
  }

  #newBuckets({ requests, tokens }: PerMinute): Buckets {
    const bucket = (limit: number): TokenBucket =>
      new TokenBucket(limit, this.#startedMs, this.#start === "full" ? limit : 0);
    return { requests: bucket(requests), tokens: bucket(tokens) };
  }
}
