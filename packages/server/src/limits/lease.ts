import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import { HangUp } from "../errors/hang-up.ts";
import type { Account, Bill } from "../metering/bookkeeper.ts";
import type { Outcome } from "../metering/usage-ledger.ts";

/** How a lease ended, for the limits, the log and the metrics. */
export interface LeaseEnd extends Bill {
  readonly outcome: Outcome;
}

/**
 * The right to run one request: its share of the limits, its slots, its open row in the ledger. Leaving the block that
 * uses it gives everything back and closes the row, once, with what was used and how it ended.
 */
export class Lease implements Disposable {
  readonly #account: Account;
  readonly #release: (end: LeaseEnd) => void;
  /** A block that is left without a word was left because the caller hung up. */
  #outcome: Outcome = "cut";
  #errorCode: string | undefined;
  #isEnded = false;

  constructor(account: Account, release: (end: LeaseEnd) => void) {
    this.#account = account;
    this.#release = release;
  }

  /** The engine's counters so far. */
  count(usage: EngineUsage): void {
    this.#account.count(usage);
  }

  /** The answer is whole. */
  complete(): void {
    this.#outcome = "complete";
  }

  /** The request ends with this error; a hang-up is none of ours. */
  fail(error: unknown): void {
    if (error instanceof HangUp) return;
    this.#outcome = "failed";
    this.#errorCode = error instanceof ApiError ? error.code : "internal_error";
  }

  [Symbol.dispose](): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const bill = this.#account.close(this.#outcome, this.#errorCode);
    this.#release({ ...bill, outcome: this.#outcome });
  }
}
