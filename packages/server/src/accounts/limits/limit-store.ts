import type { Lease } from "../lease.ts";

/** Limits per minute. */
export interface PerMinute {
  readonly requests: number;
  readonly tokens: number;
}

/** A key with its limits. */
export interface LimitedKey {
  readonly keyId: string;
  readonly perMinute: PerMinute;
  /** Maximum number of concurrent requests; undefined: no limit. */
  readonly concurrency: number | undefined;
}

/** The state of one limit of a key. */
export interface LimitState {
  /** Per minute. */
  readonly limit: number;
  /** Whole units that could be taken now, 0 or more. */
  readonly remaining: number;
  /** Milliseconds until the limit is available in full again. */
  readonly resetMs: number;
}

export type LimitStates = Readonly<Record<"requests" | "tokens", LimitState>>;

/** The reason why nothing was taken: the first limit that is exceeded. */
export interface LimitRefusal {
  readonly limit: "requests" | "tokens" | "concurrency";
  /** The value of that limit: units per minute, or concurrent requests. */
  readonly bound: number;
  /**
   * Milliseconds until the same request may be admitted: `Infinity` if it never can, 0 for concurrency, where it is
   * unknown.
   */
  readonly waitMs: number;
}

/**
 * The units that a request has taken from the limits. It ends once: the first call of `commit` or `rollback` counts, later
 * calls do nothing.
 */
export interface LimitLease extends Lease<number> {
  /** Maximum number of tokens that can ever be taken: the tighter of the key's own limit and that over all keys. */
  readonly tokenLimit: number;
  /** Returns the state of each limit at the last answer of `take` or `takeTokens`, or later. Asks no other process. */
  states(): LimitStates;
  /**
   * Takes all of these tokens, or nothing. May be called once.
   * @returns the limit that is exceeded, if nothing was taken
   */
  takeTokens(tokens: number): Promise<LimitRefusal | undefined>;
  /**
   * Ends the lease of a request that was served. Releases its concurrent request, and replaces the tokens taken by the
   * tokens used. If more were used than taken, the difference is a debt: nothing can be taken before the bucket has
   * refilled by it.
   */
  commit(usedTokens: number): Promise<void>;
  /** Ends the lease of a request that was not served. Gives everything back. */
  rollback(): Promise<void>;
}

/**
 * The limits of each key, and those over all keys, which a store gets when it is created. A limit per minute is a token
 * bucket: it is full at first, and refills evenly up to one minute's worth. If the limits of a key change, the part of its
 * buckets that is left stays the same: a bucket that was half full is half full afterwards. So limits that alternate, for
 * instance because two servers have different defaults, do not refill each other.
 *
 * `take` and `takeTokens` are atomic: concurrent calls, on any number of servers, never take the same unit, and a call that
 * is refused takes nothing. A store that several servers share must free the concurrent requests of a dead server once,
 * within 30 s, for instance by an expiry that each server renews. The requests and tokens of the minute that a dead server had
 * taken count as used, because it may have answered: they refill like all others. `states`, `take` and `takeTokens` reject when the store cannot be reached. `commit` and
 * `rollback` never reject: the store retries them, or lets the lease expire.
 *
 * `limitStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface LimitStore {
  /** Returns the state of each limit, of the key or over all keys, whichever is tighter. Takes nothing. */
  states(key: LimitedKey): Promise<LimitStates>;
  /**
   * Takes one request of the minute (of the key and over all keys) and one concurrent request, or nothing. Requests per
   * minute are checked first.
   */
  take(key: LimitedKey): Promise<LimitLease | LimitRefusal>;
}
