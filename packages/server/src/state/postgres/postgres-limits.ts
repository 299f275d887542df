import type { Pool } from "pg";
import type { LimitedKey, PerMinute } from "../../accounts/limits/limit-store.ts";
import { lateCommitMs } from "../shared-limit-store.ts";
import type { LeaseEnd, LeaseTimes, LimitAnswer, RunningLease, SharedLimits } from "../shared-limit-store.ts";

/** Maximum number of calls in one statement, and of leases in one renewal. They hold the lock of all limits meanwhile. */
const maxGrouped = 500;

/** The arguments of one operation, with the names that `parley.use_limits` knows. */
type Call = Readonly<Record<string, unknown>>;

interface WaitingCall {
  readonly call: Call;
  readonly resolve: (answer: LimitAnswer) => void;
  readonly reject: (error: unknown) => void;
}

interface AnswerRow {
  readonly is_taken: boolean;
  readonly levels: LimitAnswer["levels"] | null;
}

/**
 * Limits in PostgreSQL. Calls that arrive while a statement runs are grouped into the next one, so one connection is enough,
 * and the calls of a server are done in their order.
 */
export class PostgresLimits implements SharedLimits {
  readonly name = "PostgreSQL";
  readonly #pool: Pool;
  readonly #overall: PerMinute;
  readonly #times: LeaseTimes;
  #waiting: WaitingCall[] = [];
  #isBusy = false;

  /** @param pool has one connection, and bounds the time of each statement */
  constructor(pool: Pool, overall: PerMinute, times: LeaseTimes) {
    this.#pool = pool;
    this.#overall = overall;
    this.#times = times;
  }

  /** A lost connection is only noticed by a call, which then opens another one. */
  isConnected(): boolean {
    return true;
  }

  levels(key: LimitedKey): Promise<LimitAnswer> {
    return this.#call({ does: "look", ...argumentsOf(key) });
  }

  take(key: LimitedKey, leaseId: string): Promise<LimitAnswer> {
    return this.#call({ does: "take", ...argumentsOf(key), bound: key.concurrency, lease: leaseId });
  }

  takeTokens(key: LimitedKey, leaseId: string, tokens: number): Promise<LimitAnswer> {
    return this.#call({ does: "take tokens", ...argumentsOf(key), lease: leaseId, amount: tokens });
  }

  end({ key, leaseId, requestsBack, usedTokens }: LeaseEnd): Promise<unknown> {
    return this.#call({ does: "end", ...argumentsOf(key), lease: leaseId, back: requestsBack, amount: usedTokens });
  }

  async renew(leases: readonly RunningLease[]): Promise<void> {
    const calls: Promise<unknown>[] = [];
    for (let from = 0; from < leases.length; from += maxGrouped) {
      const some = leases.slice(from, from + maxGrouped);
      const [ids, keyIds] = [some.map(({ leaseId }) => leaseId), some.map(({ keyId }) => keyId)];
      calls.push(this.#call({ does: "renew", leases: ids, key_ids: keyIds }));
    }
    await Promise.all(calls);
  }

  #call(call: Call): Promise<LimitAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<LimitAnswer>();
    this.#waiting.push({ call, resolve, reject });
    // The calls of one round of the event loop are sent together.
    if (!this.#isBusy) queueMicrotask(() => void this.#send());
    return promise;
  }

  async #send(): Promise<void> {
    if (this.#isBusy || this.#waiting.length === 0) return;
    this.#isBusy = true;
    const group = this.#waiting.splice(0, maxGrouped);
    try {
      const answers = await this.#query(group.map(({ call }) => call));
      for (const [index, { resolve }] of group.entries()) {
        const row = answers[index];
        resolve({ isTaken: row?.is_taken ?? false, levels: row?.levels ?? [0, 0, 0, 0] });
      }
    } catch (error) {
      // The calls that waited behind the statement would wait for just as long.
      for (const { reject } of [...group, ...this.#waiting.splice(0)]) reject(error);
    } finally {
      this.#isBusy = false;
    }
    void this.#send();
  }

  async #query(calls: readonly Call[]): Promise<readonly AnswerRow[]> {
    const { leaseMs, nowMs } = this.#times;
    const { requests, tokens } = this.#overall;
    const { rows } = await this.#pool.query<AnswerRow>("SELECT * FROM parley.use_limits($1, $2, $3, $4, $5, $6)", [
      JSON.stringify(calls),
      requests,
      tokens,
      leaseMs,
      lateCommitMs,
      nowMs?.() ?? null,
    ]);
    return rows;
  }
}

const argumentsOf = ({ keyId, perMinute: { requests, tokens } }: LimitedKey): Call => ({
  key_id: keyId,
  requests,
  tokens,
});
