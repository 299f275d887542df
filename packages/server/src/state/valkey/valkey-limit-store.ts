import { randomUUID } from "node:crypto";
import type { Valkey } from "iovalkey";
import type {
  LimitedKey,
  LimitLease,
  LimitRefusal,
  LimitStates,
  LimitStore,
  PerMinute,
} from "../../accounts/limits/limit-store.ts";
import { StateError } from "../state-error.ts";
import { exceeded, statesOf, TokenBucket } from "../token-bucket.ts";
import type { Buckets } from "../token-bucket.ts";
import { defineLimitScripts } from "./limit-scripts.ts";
import type { BucketLevels } from "./limit-scripts.ts";

/** A lease entry outlives its place by this time, so that a late commit still corrects the tokens. */
const lateCommitMs = 60_000;
/** Maximum number of leases whose end is kept while the store is away. The oldest is dropped and expires. */
const maxUnended = 10_000;
/** Maximum number of names in one renewal, two per lease: a script blocks the store while it runs. */
const maxRenewedNames = 2000;

export interface ValkeyTimes {
  /** A place that is not renewed is free after this time. */
  readonly leaseMs: number;
  /** Leases are renewed this often. */
  readonly renewMs: number;
  /** The time in milliseconds, for tests. Without it, the store's own clock counts. */
  readonly nowMs?: () => number;
}

/** The names of a running request in the store. */
interface RunningLease {
  readonly places: string;
  readonly lease: string;
}

type EndArguments = readonly (string | number)[];

/**
 * Keeps limits in a Valkey or Redis that several servers share. Each method is one script in the store, and the store's
 * clock decides. The places and tokens of a request belong to a lease, which this server renews until the request ends.
 */
export class ValkeyLimitStore implements LimitStore, Disposable {
  readonly #client: Valkey;
  readonly #overall: PerMinute;
  readonly #times: ValkeyTimes;
  /** The first lease is the server's own: its renewal shows whether the store takes writes. */
  readonly #running = new Set<RunningLease>([{ places: "parley:servers", lease: `parley:lease:${randomUUID()}` }]);
  #hasAnswered = true;
  #unended: EndArguments[] = [];
  readonly #timer: NodeJS.Timeout;

  /** @param client is connected, does not queue commands while offline, and bounds the time of each */
  constructor(client: Valkey, overall: PerMinute, times: ValkeyTimes) {
    this.#client = client;
    this.#overall = overall;
    this.#times = times;
    defineLimitScripts(client);
    this.#timer = setInterval(() => void this.keepUp(), times.renewMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Returns whether the store took the last command. */
  isReachable(): boolean {
    return this.#hasAnswered && this.#client.status === "ready";
  }

  async states(key: LimitedKey): Promise<LimitStates> {
    const { names, limits } = this.#bucketsOf(key);
    const answer = await this.#reached(this.#client.parleyLevels(...names, this.#now(), ...limits));
    const [own, overall] = this.#toBuckets(key, answer);
    return statesOf(own, overall, 0);
  }

  async take(key: LimitedKey): Promise<LimitLease | LimitRefusal> {
    const { names, limits } = this.#bucketsOf(key);
    const running = { places: `parley:places:${key.keyId}`, lease: `parley:lease:${randomUUID()}` };
    const endNames = [...names, running.places, running.lease];
    const end = (requestsBack: number, usedTokens: number): Promise<void> =>
      this.#end(running, [...endNames, this.#now(), ...limits, requestsBack, usedTokens]);
    const { leaseMs } = this.#times;
    const bound = key.concurrency ?? "";
    const isSent = this.#client.status === "ready";
    const asked = this.#client.parleyTake(...endNames, this.#now(), ...limits, bound, leaseMs, leaseMs + lateCommitMs);
    const answer = await this.#reached(asked).catch(async (error: unknown) => {
      // The store may have taken it, and only the answer was lost.
      if (isSent) this.#keepEnd([...endNames, this.#now(), ...limits, 1, 0]);
      throw error;
    });
    let buckets = this.#toBuckets(key, answer);
    if (answer[0] === 0)
      return exceeded("requests", buckets, 1, 0) ?? { limit: "concurrency", bound: key.concurrency ?? 0, waitMs: 0 };
    this.#running.add(running);
    return {
      states: () => statesOf(...buckets, 0),
      tokenLimit: Math.min(key.perMinute.tokens, this.#overall.tokens),
      takeTokens: async (wanted) => {
        const args = [...names, running.lease, this.#now(), ...limits, wanted, leaseMs + lateCommitMs];
        const answer = await this.#reached(this.#client.parleyTakeTokens(...args));
        buckets = this.#toBuckets(key, answer);
        return answer[0] === 0 ? exceeded("tokens", buckets, wanted, 0) : undefined;
      },
      commit: (usedTokens) => end(0, usedTokens),
      rollback: () => end(1, 0),
    };
  }

  /** Ends the leases whose end did not arrive, and renews the others. Call it when the client is connected again. */
  async keepUp(): Promise<void> {
    const unended = this.#unended;
    this.#unended = [];
    for (const args of unended) void this.#sendEnd(args);
    await this.#reached(this.renew()).catch(() => undefined);
  }

  /**
   * Renews all leases of this server. The calls are sent at once: a call that is sent after the end of one of its leases
   * would create that lease again.
   * @throws the error of the library
   */
  async renew(): Promise<void> {
    const running = [...this.#running].flatMap(({ places, lease }) => [places, lease]);
    const { leaseMs } = this.#times;
    const calls: Promise<null>[] = [];
    while (running.length > 0) {
      const names = running.splice(0, maxRenewedNames);
      calls.push(this.#client.parleyRenew(names.length, ...names, this.#now(), leaseMs, leaseMs + lateCommitMs));
    }
    await Promise.all(calls);
  }

  async #end(running: RunningLease, args: EndArguments): Promise<void> {
    if (this.#running.delete(running)) await this.#sendEnd(args);
  }

  async #sendEnd(args: EndArguments): Promise<void> {
    await this.#client.parleyEnd(...args).catch(() => this.#keepEnd(args));
  }

  #keepEnd(args: EndArguments): void {
    if (this.#unended.push(args) > maxUnended) this.#unended.shift();
  }

  /** @throws {StateError} if the store does not answer, or answers with an error */
  async #reached<T>(answer: Promise<T>): Promise<T> {
    try {
      const result = await answer;
      this.#hasAnswered = true;
      return result;
    } catch (cause) {
      this.#hasAnswered = false;
      throw new StateError("Valkey, which keeps the limits, cannot be reached.", { cause });
    }
  }

  #now(): string | number {
    return this.#times.nowMs?.() ?? "";
  }

  #bucketsOf({ keyId, perMinute }: LimitedKey): { names: readonly string[]; limits: readonly number[] } {
    return {
      names: [`parley:bucket:key:${keyId}`, "parley:bucket:overall"],
      limits: [perMinute, this.#overall].flatMap(({ requests, tokens }) => [requests, tokens]),
    };
  }

  /** Returns buckets that had these levels at the time 0. */
  #toBuckets({ perMinute }: LimitedKey, [, ...levels]: BucketLevels): [own: Buckets, overall: Buckets] {
    const [requests, tokens, overallRequests, overallTokens] = levels;
    return [
      { requests: bucket(perMinute.requests, requests), tokens: bucket(perMinute.tokens, tokens) },
      {
        requests: bucket(this.#overall.requests, overallRequests),
        tokens: bucket(this.#overall.tokens, overallTokens),
      },
    ];
  }
}

const bucket = (limit: number, level: string): TokenBucket => new TokenBucket(limit, 0, Number(level));
