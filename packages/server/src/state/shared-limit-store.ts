import { randomUUID } from "node:crypto";
import type {
  LimitedKey,
  LimitLease,
  LimitRefusal,
  LimitStates,
  LimitStore,
  PerMinute,
} from "../accounts/limits/limit-store.ts";
import type { Lease } from "../accounts/lease.ts";
import { StateError } from "./state-error.ts";
import { exceeded, statesOf, TokenBucket } from "./token-bucket.ts";
import type { Buckets } from "./token-bucket.ts";

/** Maximum number of leases whose end is kept while the store is away. The oldest is dropped and expires. */
const maxUnended = 100_000;
/** Number of kept ends that are sent at once. */
const maxSent = 500;
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
  /** Requests of the minute to give back: 0 or 1; -1 to take one. */
  readonly requestsBack: number;
  readonly usedTokens: number;
  /** True if the store does not have the lease yet. It is created first, so the end charges the request once. */
  readonly isNew?: boolean;
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
  /** The first lease belongs to the server itself, not to a request. Its renewal shows whether the store can be written. */
  readonly #running = new Set<RunningLease>([{ keyId: "", leaseId: randomUUID() }]);
  /** Number of running requests by key. */
  readonly #runningOf = new Map<string, number>();
  #hasAnswered = true;
  readonly #unended: LeaseEnd[] = [];
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
    this.#enter(running);
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

  /** Returns the number of requests of a key that run on this server. */
  runningOf(keyId: string): number {
    return this.#runningOf.get(keyId) ?? 0;
  }

  /** Returns true while ends of leases are kept, because they did not arrive. */
  hasUnended(): boolean {
    return this.#unended.length > 0;
  }

  /** Enters a request that was admitted without the store. Its place is taken at the next renewal, the rest at its end. */
  hold(key: LimitedKey): Lease<number> {
    const running = { keyId: key.keyId, leaseId: randomUUID() };
    this.#enter(running);
    const end = async (requestsBack: number, usedTokens: number): Promise<void> =>
      this.#end(running, { key, leaseId: running.leaseId, requestsBack, usedTokens, isNew: true });
    return { commit: (usedTokens) => end(-1, usedTokens), rollback: () => end(0, 0) };
  }

  #enter(running: RunningLease): void {
    this.#running.add(running);
    this.#runningOf.set(running.keyId, this.runningOf(running.keyId) + 1);
  }

  /** Renews the leases, and ends those whose end did not arrive. Call it when the store can be reached again. */
  async keepUp(): Promise<void> {
    await this.renew();
    // One that fails is added at the end of the list, for the next time.
    for (let left = this.#unended.length; left > 0 && this.#hasAnswered; left -= maxSent)
      await Promise.all(this.#unended.splice(0, Math.min(left, maxSent)).map((end) => this.#sendEnd(end)));
  }

  /** Renews all leases of this server. @throws {StateError} if the store cannot be reached */
  async renew(): Promise<void> {
    await this.#reached(this.#shared.renew([...this.#running]));
  }

  #keepUpLater(): void {
    const waitMs = this.#hasAnswered ? this.#renewMs : Math.min(retryMs, this.#renewMs);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.keepUp()
        .catch(() => undefined)
        .finally(() => this.#timer && this.#keepUpLater());
    }, waitMs).unref();
  }

  async #end(running: RunningLease, end: LeaseEnd): Promise<void> {
    if (!this.#running.delete(running)) return;
    const left = this.runningOf(running.keyId) - 1;
    if (left === 0) this.#runningOf.delete(running.keyId);
    else this.#runningOf.set(running.keyId, left);
    await this.#sendEnd(end);
  }

  async #sendEnd(end: LeaseEnd): Promise<void> {
    const lease = { keyId: end.key.keyId, leaseId: end.leaseId };
    const calls = [...(end.isNew ? [this.#shared.renew([lease])] : []), this.#shared.end(end)];
    await this.#reached(Promise.all(calls)).catch(() => this.#keepEnd(end));
  }

  #keepEnd(end: LeaseEnd): void {
    if (this.#unended.push(end) > maxUnended) this.#unended.shift();
  }

  /** @throws {StateError} if the store does not answer, or answers with an error */
  async #reached<T>(answer: Promise<T>): Promise<T> {
    try {
      const result = await answer;
      this.#hasAnswered = true;
      return result;
    } catch (cause) {
      const isFirst = this.#hasAnswered;
      this.#hasAnswered = false;
      // The next attempt would else come only at the time of the next renewal.
      if (isFirst && this.#timer) this.#keepUpLater();
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
