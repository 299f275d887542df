import { randomUUID } from "node:crypto";
import type {
  LimitedKey,
  LimitLease,
  LimitRefusal,
  LimitStates,
  LimitStore,
  PerMinute,
} from "../accounts/limits/limit-store.ts";
import { StateError } from "./state-error.ts";
import { exceeded, statesOf, TokenBucket } from "./token-bucket.ts";
import type { Buckets } from "./token-bucket.ts";

/** Maximum number of leases whose end is kept while the store is away. The oldest is dropped and expires. */
const maxUnended = 10_000;
/** Milliseconds between two attempts to reach a store that is away. */
const retryMs = 500;
/** A lease entry outlives its place by this time, so that a late commit still corrects the tokens. */
export const lateCommitMs = 60_000;

export interface LeaseTimes {
  /** A place that is not renewed is free after this time. */
  readonly leaseMs: number;
  /** Leases are renewed this often. */
  readonly renewMs: number;
  /** The time in milliseconds, for tests. Without it, the store's own clock counts. */
  readonly nowMs?: () => number;
}

export const defaultLeaseTimes: LeaseTimes = { leaseMs: 20_000, renewMs: 5000 };

/** A running request in the store. */
export interface RunningLease {
  readonly keyId: string;
  readonly leaseId: string;
}

/** The end of a lease. */
export interface LeaseEnd {
  readonly key: LimitedKey;
  readonly leaseId: string;
  /** Requests of the minute to give back: 0 or 1. */
  readonly requestsBack: number;
  readonly usedTokens: number;
}

/** The answer of a store. The levels are those after the call: requests and tokens of the key, then of all keys together. */
export interface LimitAnswer {
  readonly isTaken: boolean;
  readonly levels: readonly [requests: number, tokens: number, overallRequests: number, overallTokens: number];
}

/**
 * The operations of a store that several servers share. Each is atomic, and the store's clock decides. The operations of one
 * server are done in the order of the calls. All reject if the store does not answer within about a second.
 */
export interface SharedLimits {
  /** Completes the sentence "…, which keeps the limits, cannot be reached." */
  readonly name: string;
  levels(key: LimitedKey): Promise<LimitAnswer>;
  take(key: LimitedKey, leaseId: string): Promise<LimitAnswer>;
  takeTokens(key: LimitedKey, leaseId: string, tokens: number): Promise<LimitAnswer>;
  /** Does nothing if the lease has ended. */
  end(end: LeaseEnd): Promise<unknown>;
  /** Renews leases. A lease that the store has lost is created again, without tokens. */
  renew(leases: readonly RunningLease[]): Promise<unknown>;
  /** Returns false if a call would reject without being sent. */
  isConnected(): boolean;
}

/** Limits that several servers share. Disposal closes the connection. */
export interface OpenLimits extends AsyncDisposable {
  readonly limits: SharedLimitStore;
}

/**
 * The limits of a store that several servers share. The place and the tokens of a request belong to a lease, which this server
 * renews until the request ends.
 */
export class SharedLimitStore implements LimitStore, Disposable {
  readonly #shared: SharedLimits;
  readonly #overall: PerMinute;
  readonly #renewMs: number;
  /** The first lease is the server's own: its renewal shows whether the store takes writes. */
  readonly #running = new Set<RunningLease>([{ keyId: "", leaseId: randomUUID() }]);
  #hasAnswered = true;
  #unended: LeaseEnd[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(shared: SharedLimits, overall: PerMinute, { renewMs }: LeaseTimes) {
    this.#shared = shared;
    this.#overall = overall;
    this.#renewMs = renewMs;
    this.#keepUpLater();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Returns whether the store took the last command. */
  isReachable(): boolean {
    return this.#hasAnswered && this.#shared.isConnected();
  }

  async states(key: LimitedKey): Promise<LimitStates> {
    return statesOf(...this.#toBuckets(key, await this.#reached(this.#shared.levels(key))), 0);
  }

  async take(key: LimitedKey): Promise<LimitLease | LimitRefusal> {
    const running = { keyId: key.keyId, leaseId: randomUUID() };
    const end = (requestsBack: number, usedTokens: number): Promise<void> =>
      this.#end(running, { key, leaseId: running.leaseId, requestsBack, usedTokens });
    const isSent = this.#shared.isConnected();
    const answer = await this.#reached(this.#shared.take(key, running.leaseId)).catch((error: unknown) => {
      // The store may have taken it, and only the answer was lost.
      if (isSent) this.#keepEnd({ key, leaseId: running.leaseId, requestsBack: 1, usedTokens: 0 });
      throw error;
    });
    let buckets = this.#toBuckets(key, answer);
    if (!answer.isTaken)
      return exceeded("requests", buckets, 1, 0) ?? { limit: "concurrency", bound: key.concurrency ?? 0, waitMs: 0 };
    this.#running.add(running);
    return {
      states: () => statesOf(...buckets, 0),
      tokenLimit: Math.min(key.perMinute.tokens, this.#overall.tokens),
      takeTokens: async (wanted) => {
        const answer = await this.#reached(this.#shared.takeTokens(key, running.leaseId, wanted));
        buckets = this.#toBuckets(key, answer);
        return answer.isTaken ? undefined : exceeded("tokens", buckets, wanted, 0);
      },
      commit: (usedTokens) => end(0, usedTokens),
      rollback: () => end(1, 0),
    };
  }

  /** Renews the leases, and ends those whose end did not arrive. Call it when the store can be reached again. */
  async keepUp(): Promise<void> {
    const unended = this.#unended;
    await this.renew();
    this.#unended = this.#unended.slice(unended.length);
    for (const end of unended) void this.#sendEnd(end);
  }

  /** Renews all leases of this server. @throws {StateError} if the store cannot be reached */
  async renew(): Promise<void> {
    await this.#reached(this.#shared.renew([...this.#running]));
  }

  #keepUpLater(): void {
    const waitMs = this.#hasAnswered ? this.#renewMs : Math.min(retryMs, this.#renewMs);
    this.#timer = setTimeout(() => {
      void this.keepUp()
        .catch(() => undefined)
        .finally(() => this.#timer && this.#keepUpLater());
    }, waitMs).unref();
  }

  async #end(running: RunningLease, end: LeaseEnd): Promise<void> {
    if (this.#running.delete(running)) await this.#sendEnd(end);
  }

  async #sendEnd(end: LeaseEnd): Promise<void> {
    await this.#reached(this.#shared.end(end)).catch(() => this.#keepEnd(end));
  }

  #keepEnd(end: LeaseEnd): void {
    this.#unended = [...this.#unended, end].slice(-maxUnended);
  }

  /** @throws {StateError} if the store does not answer, or answers with an error */
  async #reached<T>(answer: Promise<T>): Promise<T> {
    try {
      const result = await answer;
      this.#hasAnswered = true;
      return result;
    } catch (cause) {
      this.#hasAnswered = false;
      throw new StateError(`${this.#shared.name}, which keeps the limits, cannot be reached.`, { cause });
    }
  }

  /** Returns buckets that had these levels at the time 0. */
  #toBuckets({ perMinute }: LimitedKey, { levels }: LimitAnswer): [own: Buckets, overall: Buckets] {
    const [requests, tokens, overallRequests, overallTokens] = levels;
    return [bucketsOf(perMinute, requests, tokens), bucketsOf(this.#overall, overallRequests, overallTokens)];
  }
}

const bucketsOf = (limits: PerMinute, requests: number, tokens: number): Buckets => ({
  requests: new TokenBucket(limits.requests, 0, requests),
  tokens: new TokenBucket(limits.tokens, 0, tokens),
});
