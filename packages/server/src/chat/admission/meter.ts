import { EngineError } from "@parley/inference";
import type { EngineUsage } from "@parley/inference";
import type { SlotLease } from "../../models/model-queue.ts";
import { ApiError } from "../../errors/api-error.ts";
import { HangUpError } from "../../errors/hang-up.ts";
import { noUsage } from "../../accounts/ledger/ledger-recorder.ts";
import type { FinalUsage, Outcome } from "../../accounts/ledger/usage-ledger.ts";
import { priceOf } from "../../accounts/money/price.ts";
import type { Pricing } from "../../accounts/money/price.ts";

interface MeterOptions {
  readonly promptTokens: number;
  /** Maximum number of completion tokens of each choice. */
  readonly maxTokens: number;
  readonly pricing: Pricing;
  readonly slots: Pick<SlotLease, "count" | "endChoice">;
  /** Called with the first event of the engine. */
  readonly onFirst: () => void;
  /** Ends the admission of the request. */
  readonly onEnd: (final: FinalUsage) => Promise<void>;
}

interface Ending {
  readonly outcome: Outcome;
  readonly errorCode: string | undefined;
  /** True if the engine or the service failed, not the request. */
  readonly isServiceFault: boolean;
}

/**
 * Counts the usage of a running request, and notes how its answer ended. Disposal ends the admission of the request with
 * its final usage.
 */
export class Meter implements AsyncDisposable {
  /** Maximum number of completion tokens of each choice. */
  readonly maxTokens: number;
  readonly #options: MeterOptions;
  /** A client that disconnects is not reported, so this is the ending if nothing else is. */
  #ending: Ending = { outcome: "cancelled", errorCode: undefined, isServiceFault: false };
  #usage: EngineUsage | undefined;
  #sent: EngineUsage | undefined;
  #isAllSent: () => boolean = () => false;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.maxTokens = options.maxTokens;
  }

  /** The total usage so far; undefined before the first event. */
  get usage(): EngineUsage | undefined {
    return this.#usage;
  }

  /** Uses a function that returns true if nothing that was counted so far waits in this process to be sent to the client. */
  watchSending(isAllSent: () => boolean): void {
    this.#isAllSent = isAllSent;
  }

  /**
   * The usage of a stream up to the last events that are known to be sent; undefined before that. If the server dies, the
   * client has received all of it.
   */
  get sentUsage(): EngineUsage | undefined {
    if (this.#isAllSent()) this.#sent = this.#usage;
    return this.#sent;
  }

  /**
   * Replaces the usage. An engine that reports more cached tokens than the prompt has is believed up to the whole prompt.
   * @param usage the total so far, as the engine reports it
   * @throws {EngineError} `protocol` for counts that are not integers of 0 or more
   */
  count(usage: EngineUsage): void {
    if (!this.#usage) this.#options.onFirst();
    assertCounts(usage);
    const { promptTokens, cachedTokens } = usage;
    this.#usage = cachedTokens > promptTokens ? { ...usage, cachedTokens: promptTokens } : usage;
    this.#options.slots.count(usage.completionTokens);
  }

  /** One of its choices is finished. */
  endChoice(): void {
    this.#options.slots.endChoice();
  }

  /** The answer is whole. */
  complete(): void {
    this.#ending = { ...this.#ending, outcome: "complete" };
  }

  /** The request ends with this error. A `HangUpError` does not count as a failure, because the client caused it. */
  fail(error: unknown): void {
    if (error instanceof HangUpError) return;
    const errorCode = error instanceof ApiError ? error.code : "internal_error";
    this.#ending = { outcome: "failed", errorCode, isServiceFault: isFaultOfService(error) };
  }

  /** Waits for the ledger and the limits, so a caller that reads them after the answer finds this request in them. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#options.onEnd(this.#finalUsage());
  }

  /**
   * A client that disconnects before the first event pays for the prompt. A failed request is free if the service caused the
   * failure, or if it has no completion tokens.
   */
  #finalUsage(): FinalUsage {
    const { promptTokens, pricing } = this.#options;
    const { outcome, errorCode, isServiceFault } = this.#ending;
    const unstarted = outcome === "cancelled" ? { ...noUsage, promptTokens } : noUsage;
    const usage = this.#usage ?? unstarted;
    const isUnpaid = outcome === "failed" && (isServiceFault || usage.completionTokens === 0);
    return { usage, outcome, errorCode, costUsd: isUnpaid ? "0" : priceOf(usage, pricing) };
  }
}

/**
 * Returns true when the engine or the service failed, not the request. A request that reached its own time limit counts as
 * its own failure, because it asked for too much.
 */
function isFaultOfService(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status >= 500 && (error.code !== "timeout" || error.cause instanceof EngineError);
}

function assertCounts(usage: EngineUsage): void {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usage;
  if (isCount(promptTokens) && isCount(cachedTokens) && isCount(completionTokens) && isCount(reasoningTokens)) return;
  throw new EngineError("protocol", "the engine has lost count");
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0;
