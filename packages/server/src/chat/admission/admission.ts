import { ApiError, storeAway } from "../../errors/api-error.ts";
import type { Lease } from "../../accounts/lease.ts";
import type { FinalUsage } from "../../accounts/ledger/usage-ledger.ts";
import { exceeded } from "../../accounts/limits/limits.ts";
import type { LimitLease } from "../../accounts/limits/limit-store.ts";

/** Statuses that say that the service could not serve a request. The request itself may be faultless. */
const serviceStatuses = new Set([402, 429, 503]);

type Ended = void | Promise<void>;

/**
 * Everything that a request has taken. `admitHead` opens an admission with one request of the minute, one concurrent request
 * and memory for the body. `admit` adds tokens of the minute, money, slots and an open ledger entry.
 *
 * An admission ends once: the first call of `commit`, `rollback` or the disposal counts, and later calls only wait for it. All
 * leases end in one turn of the event loop, the newest first. None waits for another one, and all of them end even if one
 * throws.
 */
export class Admission implements AsyncDisposable {
  readonly #limits: LimitLease;
  readonly #body: Lease<unknown>;
  /** All leases except `#limits`, oldest first. */
  readonly #leases: Set<Lease<FinalUsage>>;
  #end: Promise<void> | undefined;

  constructor(limits: LimitLease, body: Lease<unknown>) {
    this.#limits = limits;
    this.#body = body;
    this.#leases = new Set([body]);
  }

  /** Maximum number of tokens of a minute that a request of this key can have. */
  get tokenLimit(): number {
    return this.#limits.tokenLimit;
  }

  /** Returns the states of the limits as of the last unit taken. */
  limitStates: LimitLease["states"] = () => this.#limits.states();

  /**
   * Takes tokens of the minute, and adds a lease. If the last answer of the limits left enough tokens, it asks for both at the
   * same time. If one of them is refused, the end of the admission gives back the other. May be called once.
   * @throws {ApiError} 429 `rate_limit_exceeded` if there are not enough tokens, whatever became of the lease
   * @throws {ApiError} 503 `service_unavailable` if the limits cannot be reached; else the error of the lease
   */
  async takeTokensAnd<Taken extends Lease<FinalUsage>>(tokens: number, take: () => Promise<Taken>): Promise<Taken> {
    const isLikely = this.limitStates().tokens.remaining >= tokens;
    const taking = this.#takeTokens(tokens);
    if (!isLikely) await taking;
    const [taken, added] = await Promise.allSettled([taking, take().then((lease) => this.add(lease))]);
    if (taken.status === "rejected") throw taken.reason;
    if (added.status === "rejected") throw added.reason;
    return added.value;
  }

  async #takeTokens(tokens: number): Promise<void> {
    const refusal = await this.#limits.takeTokens(tokens).catch(storeAway);
    if (refusal) throw exceeded(refusal, tokens);
  }

  /**
   * Adds a lease, and returns it.
   * @throws {Error} if the admission has ended; the lease is then rolled back
   */
  add<Taken extends Lease<FinalUsage>>(lease: Taken): Taken {
    if (this.#end) {
      void lease.rollback();
      throw new Error("the request has taken something after its admission ended");
    }
    this.#leases.add(lease);
    return lease;
  }

  /** Releases the memory of the body before the admission ends. Later calls do nothing. */
  freeBody(): void {
    if (this.#leases.delete(this.#body)) void this.#body.rollback();
  }

  /**
   * Ends the admission of a request that ran.
   * @throws the error of a lease that could not end; an {AggregateError} for several
   */
  commit(used: FinalUsage): Promise<void> {
    const tokens = used.usage.promptTokens + used.usage.completionTokens;
    return this.#endWith(
      (lease) => lease.commit(used),
      () => this.#limits.commit(tokens),
    );
  }

  /** Ends the admission of a request that the service could not serve. Gives everything back. @throws like `commit` */
  rollback(): Promise<void> {
    return this.#endWith(
      (lease) => lease.rollback(),
      () => this.#limits.rollback(),
    );
  }

  /**
   * Ends the admission of a request that did not run, because it was faulty or its client has disconnected. Its request of
   * the minute is used. Gives everything else back.
   * @throws like `commit`
   */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#endWith(
      (lease) => lease.rollback(),
      () => this.#limits.commit(0),
    );
  }

  /**
   * Waits for the work of the request. Rolls back if the work ends with 402, 429 or 503.
   * @throws every error of the work
   */
  async rollbackIfRefused(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      if (thrown instanceof ApiError && serviceStatuses.has(thrown.status)) await this.rollback();
      throw thrown;
    }
  }

  #endWith(end: (lease: Lease<FinalUsage>) => Ended, endLimits: () => Ended): Promise<void> {
    if (this.#end) return this.#end;
    const newestFirst = [...this.#leases].toReversed().map((lease) => () => end(lease));
    this.#leases.clear();
    return (this.#end = endAll([...newestFirst, endLimits]));
  }
}

async function endAll(ends: readonly (() => Ended)[]): Promise<void> {
  const results = await Promise.allSettled(ends.map(async (end) => end()));
  const errors = results.filter((one) => one.status === "rejected").map(({ reason }): unknown => reason);
  if (errors.length > 1) throw new AggregateError(errors, "several leases could not end");
  if (errors.length === 1) throw errors[0];
}
