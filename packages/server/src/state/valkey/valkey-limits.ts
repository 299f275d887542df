import type { Valkey } from "iovalkey";
import type { LimitedKey, PerMinute } from "../../accounts/limits/limit-store.ts";
import { lateCommitMs } from "../shared-limit-store.ts";
import type { LeaseEnd, LeaseTimes, LimitAnswer, RunningLease, SharedLimits } from "../shared-limit-store.ts";
import { defineLimitScripts } from "./limit-scripts.ts";
import type { BucketLevels } from "./limit-scripts.ts";

/** Maximum number of leases in one renewal: a script blocks the store while it runs. */
const maxRenewed = 1000;

/** Limits in a Valkey or Redis. Each operation is one script. */
export class ValkeyLimits implements SharedLimits {
  readonly name = "Valkey";
  readonly #client: Valkey;
  readonly #overall: PerMinute;
  readonly #times: LeaseTimes;

  /** @param client does not queue commands while offline, and bounds the time of each */
  constructor(client: Valkey, overall: PerMinute, times: LeaseTimes) {
    this.#client = client;
    this.#overall = overall;
    this.#times = times;
    defineLimitScripts(client);
  }

  isConnected(): boolean {
    return this.#client.status === "ready";
  }

  async levels(key: LimitedKey): Promise<LimitAnswer> {
    return toAnswer(await this.#client.parleyLevels(...bucketNames(key), this.#now(), ...this.#limitsOf(key)));
  }

  async take(key: LimitedKey, leaseId: string): Promise<LimitAnswer> {
    const names = [...bucketNames(key), ...namesOf({ keyId: key.keyId, leaseId })];
    const args = [this.#now(), ...this.#limitsOf(key), key.concurrency ?? "", this.#times.leaseMs, this.#lifeMs];
    return toAnswer(await this.#client.parleyTake(...names, ...args));
  }

  async takeTokens(key: LimitedKey, leaseId: string, tokens: number): Promise<LimitAnswer> {
    const names = [...bucketNames(key), leaseName(leaseId)];
    const args = [this.#now(), ...this.#limitsOf(key), tokens, this.#lifeMs];
    return toAnswer(await this.#client.parleyTakeTokens(...names, ...args));
  }

  async end({ key, leaseId, requestsBack, usedTokens }: LeaseEnd): Promise<void> {
    const names = [...bucketNames(key), ...namesOf({ keyId: key.keyId, leaseId })];
    await this.#client.parleyEnd(...names, this.#now(), ...this.#limitsOf(key), requestsBack, usedTokens);
  }

  /** The calls are sent at once: a call that is sent after the end of one of its leases would create that lease again. */
  async renew(leases: readonly RunningLease[]): Promise<void> {
    const calls: Promise<null>[] = [];
    for (let from = 0; from < leases.length; from += maxRenewed) {
      const names = leases.slice(from, from + maxRenewed).flatMap(namesOf);
      calls.push(this.#client.parleyRenew(names.length, ...names, this.#now(), this.#times.leaseMs, this.#lifeMs));
    }
    await Promise.all(calls);
  }

  get #lifeMs(): number {
    return this.#times.leaseMs + lateCommitMs;
  }

  #now(): string | number {
    return this.#times.nowMs?.() ?? "";
  }

  #limitsOf({ perMinute }: LimitedKey): readonly number[] {
    return [perMinute, this.#overall].flatMap(({ requests, tokens }) => [requests, tokens]);
  }
}

const bucketNames = ({ keyId }: LimitedKey): readonly string[] => [
  `parley:bucket:key:${keyId}`,
  "parley:bucket:overall",
];
const leaseName = (leaseId: string): string => `parley:lease:${leaseId}`;
const namesOf = ({ keyId, leaseId }: RunningLease): readonly [places: string, lease: string] => [
  `parley:places:${keyId}`,
  leaseName(leaseId),
];

const toAnswer = ([isTaken, ...levels]: BucketLevels): LimitAnswer => {
  const [requests, tokens, overallRequests, overallTokens] = levels;
  return {
    isTaken: isTaken === 1,
    levels: [Number(requests), Number(tokens), Number(overallRequests), Number(overallTokens)],
  };
};
