import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors/api-error.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Requests and tokens per minute. */
export interface Ceilings {
  readonly requests: number;
  readonly tokens: number;
}

/** What the six headers say. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

interface Buckets {
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;
}

/** What a request has taken of the limits; given back or corrected once its real cost is known. */
export interface Reservation {
  /** Replaces the reserved tokens by those used. */
  settle(usedTokens: number): void;
  /** Gives everything back: the request was refused after all. */
  cancel(): void;
}

/** The limits per key and over all keys, in memory. A key without limits of its own has the server's ceiling as its own. */
export class RateLimits {
  readonly #ceilings: Ceilings;
  readonly #nowMs: () => number;
  readonly #overall: Buckets;
  readonly #keys = new Map<string, Buckets>();

  constructor(ceilings: Ceilings, nowMs: () => number) {
    this.#ceilings = ceilings;
    this.#nowMs = nowMs;
    this.#overall = this.#newBuckets(ceilings);
  }

  /** The tighter of the key's own limit and the server's. */
  state(caller: Caller): { readonly requests: LimitState; readonly tokens: LimitState } {
    const own = this.#bucketsOf(caller);
    return {
      requests: this.#tighter(own.requests, this.#overall.requests),
      tokens: this.#tighter(own.tokens, this.#overall.tokens),
    };
  }

  /** Takes one request and so many tokens from both levels, or nothing. @throws {ApiError} 429 `rate_limit_exceeded` */
  reserve(caller: Caller, tokens: number): Reservation {
    const levels = [this.#bucketsOf(caller), this.#overall];
    this.#assertRoom(
      levels.map((level) => level.requests),
      1,
      "requests",
    );
    this.#assertRoom(
      levels.map((level) => level.tokens),
      tokens,
      "tokens",
    );
    const take = (requests: number, amount: number): void => {
      for (const level of levels) {
        level.requests.take(requests, this.#nowMs());
        level.tokens.take(amount, this.#nowMs());
      }
    };
    take(1, tokens);
    return { settle: (usedTokens) => take(0, usedTokens - tokens), cancel: () => take(-1, -tokens) };
  }

  #assertRoom(buckets: readonly TokenBucket[], amount: number, limit: "requests" | "tokens"): void {
    const now = this.#nowMs();
    const waitMs = Math.max(...buckets.map((bucket) => bucket.waitMs(amount, now)));
    if (waitMs > 0) throw exceeded(limit, amount, Math.min(...buckets.map((bucket) => bucket.limit)), waitMs);
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

  /** A changed limit starts with a full bucket. */
  #bucketsOf(caller: Caller): Buckets {
    const limits = {
      requests: caller.requestsPerMinute ?? this.#ceilings.requests,
      tokens: caller.tokensPerMinute ?? this.#ceilings.tokens,
    };
    const known = this.#keys.get(caller.keyId);
    if (known?.requests.limit === limits.requests && known.tokens.limit === limits.tokens) return known;
    const buckets = this.#newBuckets(limits);
    this.#keys.set(caller.keyId, buckets);
    return buckets;
  }

  #newBuckets({ requests, tokens }: Ceilings): Buckets {
    return { requests: new TokenBucket(requests, this.#nowMs()), tokens: new TokenBucket(tokens, this.#nowMs()) };
  }
}

function exceeded(limit: "requests" | "tokens", amount: number, perMinute: number, waitMs: number): ApiError {
  const details = { limit };
  if (waitMs === Number.POSITIVE_INFINITY) {
    const message = `This request needs up to ${amount} ${limit} and the limit is ${perMinute} a minute: it can never be admitted. Shorten the prompt or lower max_completion_tokens.`;
    return new ApiError("rate_limit_exceeded", message, { details, retryAfterMs: 60_000, isNonRetryable: true });
  }
  const message = `The limit of ${perMinute} ${limit} a minute is reached. Wait as long as retry-after says.`;
  return new ApiError("rate_limit_exceeded", message, { details, retryAfterMs: waitMs });
}

/** `0s`, `1s`, `6m0s`: whole seconds, rounded up, as the contract writes durations. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
