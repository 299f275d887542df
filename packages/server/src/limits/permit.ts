import { EngineError } from "@parley/inference";
import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import { HangUpError } from "../errors/hang-up.ts";
import type { TakenSlots } from "../engines/model-queue.ts";
import type { FinalUsage, RunningEntry } from "../metering/ledger-recorder.ts";
import type { Ending } from "../metering/final-cost.ts";
import type { Outcome } from "../metering/usage-ledger.ts";

/** The outcome and usage of an admitted request, for the limits, the log and the metrics. */
export interface PermitEnd extends FinalUsage {
  readonly outcome: Outcome;
  /** Resolves when the ledger has recorded the end of the request. */
  readonly recorded: Promise<void>;
}

/** The parts of a running request that its permit owns. */
interface Running {
  readonly entry: RunningEntry;
  readonly slots: Pick<TakenSlots, "count" | "endChoice">;
  readonly maxTokens: number;
  /** Called with the first event of the engine. */
  readonly onFirst: () => void;
}

/**
 * The right to run one request: its share of the limits, its slots and its open ledger entry. Disposal releases everything
 * and closes the ledger entry with the outcome and the usage. It does so once.
 */
export class Permit implements AsyncDisposable {
  /** Maximum number of completion tokens of each choice. */
  readonly maxTokens: number;
  readonly #entry: RunningEntry;
  readonly #slots: Pick<TakenSlots, "count" | "endChoice">;
  readonly #onFirst: () => void;
  readonly #release: (end: PermitEnd) => Promise<void>;
  /** A client that disconnects is not reported, so this is the ending if nothing else is. */
  #ending: Ending = { outcome: "cancelled", errorCode: undefined, isServiceFault: false };
  #isEnded = false;
  #usage: EngineUsage | undefined;

  /** @param release gives back all that the request holds; must not reject */
  constructor({ entry, slots, maxTokens, onFirst }: Running, release: (end: PermitEnd) => Promise<void>) {
    this.#entry = entry;
    this.#slots = slots;
    this.maxTokens = maxTokens;
    this.#onFirst = onFirst;
    this.#release = release;
  }

  /** The total usage so far; undefined before the first event. */
  get usage(): EngineUsage | undefined {
    return this.#usage;
  }

  /**
   * Replaces the usage.
   * @param usage the total so far, as the engine reports it
   * @throws {EngineError} `protocol` for counts that are not integers of 0 or more
   */
  count(usage: EngineUsage): void {
    if (!this.#usage) this.#onFirst();
    assertCounts(usage);
    this.#usage = usage;
    this.#entry.count(usage);
    this.#slots.count(usage.completionTokens);
  }

  /** One of its choices is finished. */
  endChoice(): void {
    this.#slots.endChoice();
  }

  /** The answer is whole. */
  complete(): void {
    this.#ending = { ...this.#ending, outcome: "complete" };
  }

  /** The request ends with this error. A `HangUpError` does not count as a failure, because the client caused it. */
  fail(error: unknown): void {
    if (error instanceof HangUpError) return;
    const errorCode = error instanceof ApiError ? error.code : "internal_error";
    this.#ending = { outcome: "failed", errorCode, isServiceFault: isServiceFault(error) };
  }

  /** Waits for the ledger and the limits, so a caller that reads them after the answer finds this request in them. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { written, ...final } = this.#entry.close(this.#ending);
    await Promise.all([written, this.#release({ ...final, outcome: this.#ending.outcome })]);
  }
}

/**
 * Returns true when the engine or the service failed, not the request. A request that reached its own time limit counts as
 * its own failure, because it asked for too much.
 */
function isServiceFault(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status >= 500 && (error.code !== "timeout" || error.cause instanceof EngineError);
}

function assertCounts(usage: EngineUsage): void {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usage;
  if (isCount(promptTokens) && isCount(cachedTokens) && isCount(completionTokens) && isCount(reasoningTokens)) return;
  throw new EngineError("protocol", "the engine has lost count");
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0;
