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

/** Why nothing was taken: the first limit that is in the way, in the order requests, tokens, concurrency. */
export interface Shortage {
  readonly limit: "requests" | "tokens" | "concurrency";
  /** The bound that is in the way: per minute, or at the same time. */
  readonly bound: number;
  /** Milliseconds until the same request may be admitted, `Infinity` if it never can; for concurrency unknown: 0. */
  readonly waitMs: number;
}

/** What a running request holds of the limits. It ends once: the first of the two calls counts, later ones change nothing. */
export interface Hold {
  /**
   * The request has run: its place is free again, and the tokens taken are replaced by those used. More than was taken
   * becomes a debt, which is paid before anything else can be taken.
   */
  settle(usedTokens: number): Promise<void>;
  /** The request did not run: everything is given back. */
  cancel(): Promise<void>;
}

/**
 * The limits of each key and those over all keys, which the store is made with. A limit per minute is a bucket: full at
 * first, it refills evenly, up to one minute's worth. A key whose limits have changed starts with full buckets.
 *
 * `take` is atomic: of any number of concurrent calls, on any number of servers, no two take the same unit, and a call
 * that is refused takes nothing. A store that several servers share releases the holds of a dead server by itself, for
 * instance by a lease on each hold that its server renews. `standing` and `take` reject when the store cannot be reached;
 * the calls of a hold never reject: the store repeats them, or lets the hold expire.
 *
 * `limitStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface LimitStore {
  /** For each limit the tighter of the key's own and that over all keys. Takes nothing. */
  standing(key: LimitedKey): Promise<Standing>;
  /** Takes one request, so many tokens and one place at the same time, on both levels, or nothing. */
  take(key: LimitedKey, tokens: number): Promise<Hold | Shortage>;
}
