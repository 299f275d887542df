/** How much is allowed in a minute. */
export interface PerMinute {
  readonly requests: number;
  readonly tokens: number;
}

/** A key with the limits that are in force for it. */
export interface LimitedKey {
  readonly keyId: string;
  readonly perMinute: PerMinute;
  /** Requests at the same time; undefined: no bound. */
  readonly concurrency: number | undefined;
}

/** Where a key stands with one limit. */
export interface LimitState {
  /** Per minute. */
  readonly limit: number;
  /** Whole units that could be taken now; never negative. */
  readonly remaining: number;
  /** Milliseconds until the whole limit is available again. */
  readonly resetMs: number;
}

export interface Standing {
  readonly requests: LimitState;
  readonly tokens: LimitState;
}

/** Why nothing was taken: the first limit that is in the way. */
export interface Shortage {
  readonly limit: "requests" | "tokens" | "concurrency";
  /** The bound that is in the way: per minute, or at the same time. */
  readonly bound: number;
  /** Milliseconds until the same request may be admitted, `Infinity` if it never can; for concurrency unknown: 0. */
  readonly waitMs: number;
}

/** What a request holds of the limits. It ends once: the first of `settle` and `cancel` counts, later calls change nothing. */
export interface Hold {
  /** Takes so many tokens, or nothing; to be called at most once. @returns why nothing was taken */
  takeTokens(tokens: number): Promise<Shortage | undefined>;
  /**
   * The request has ended: its place is free again, and the tokens taken are replaced by those used. More than was taken
   * becomes a debt, which is paid before anything else can be taken.
   */
  settle(usedTokens: number): Promise<void>;
  /** The request was not taken: everything is given back. */
  cancel(): Promise<void>;
}

/**
 * The limits of each key and those over all keys, which the store is made with. A limit per minute is a bucket: full at
 * first, it refills evenly, up to one minute's worth. A key whose limits have changed starts with full buckets.
 *
 * `take` and `takeTokens` are atomic: of any number of concurrent calls, on any number of servers, no two take the same
 * unit, and a call that is refused takes nothing. A store that several servers share releases the holds of a dead server by itself, for
 * instance by a lease on each hold that its server renews. `standing`, `take` and
 * `takeTokens` reject when the store cannot be reached; what ends a hold never rejects: the store repeats it, or lets the
 * hold expire.
 *
 * `limitStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface LimitStore {
  /** For each limit the tighter of the key's own and that over all keys. Takes nothing. */
  standing(key: LimitedKey): Promise<Standing>;
  /** Takes one request on both levels and one place at the same time, or nothing; requests are looked at first. */
  take(key: LimitedKey): Promise<Hold | Shortage>;
}
