import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import { HangUp } from "../errors/hang-up.ts";
import type { TakenSlots } from "../engines/model-queue.ts";
import type { FinalUsage, RunningEntry } from "../metering/ledger-recorder.ts";
import type { Metered } from "../metering/meter.ts";
import type { Outcome } from "../metering/usage-ledger.ts";

/** How an admitted request ended, for the limits, the log and the metrics. */
export interface PermitEnd extends FinalUsage {
  readonly outcome: Outcome;
  /** Resolves when the ledger has recorded the end of the request. */
  readonly recorded: Promise<void>;
}

/**
 * The right to run one request: its share of the limits, its slots, its open entry in the ledger. Leaving the block that
 * uses it releases everything and closes the entry, once, with what was used and how it ended.
 */
export class Permit implements Metered, AsyncDisposable {
  /** Completion tokens of each choice that may be generated. */
  readonly maxTokens: number;
  readonly #entry: RunningEntry;
  readonly #slots: Pick<TakenSlots, "count" | "endChoice">;
  readonly #release: (end: PermitEnd) => Promise<void>;
  /** Nothing is reported when the client disconnects: the block is just left. */
  #outcome: Outcome = "cancelled";
  #errorCode: string | undefined;
  #isEnded = false;

  /** @param release gives back everything that the request holds; it must not reject */
  constructor(
    entry: RunningEntry,
    slots: Pick<TakenSlots, "count" | "endChoice">,
    maxTokens: number,
    release: (end: PermitEnd) => Promise<void>,
  ) {
    this.#entry = entry;
    this.#slots = slots;
    this.maxTokens = maxTokens;
    this.#release = release;
  }

  count(usage: EngineUsage): void {
    this.#entry.count(usage);
    this.#slots.count(usage.completion_tokens);
  }

  endChoice(): void {
    this.#slots.endChoice();
  }

  complete(): void {
    this.#outcome = "complete";
  }

  fail(error: unknown): void {
    if (error instanceof HangUp) return;
    this.#outcome = "failed";
    this.#errorCode = error instanceof ApiError ? error.code : "internal_error";
  }

  /** Waits for ledger and limits, so that whoever reads them after the answer finds this request in them. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { written, ...final } = this.#entry.close(this.#outcome, this.#errorCode);
    await Promise.all([written, this.#release({ ...final, outcome: this.#outcome })]);
  }
}
