import type { EngineUsage } from "@parley/inference";
import { priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";
import type { Outcome } from "./usage-ledger.ts";

/** The end of a request, as far as it decides the cost. */
export interface Ending {
  readonly outcome: Outcome;
  /** The code of the error that ended it, from the contract's catalogue. */
  readonly errorCode: string | undefined;
  /** True if the engine or the service failed, not the request. */
  readonly isServiceFault: boolean;
}

/**
 * Returns the cost of an ended request in US dollars. A failed request is free if the service caused the failure, or if it
 * has no completion tokens.
 */
export function finalCost(usage: EngineUsage, { outcome, isServiceFault }: Ending, pricing: Pricing): string {
  const isFree = outcome === "failed" && (isServiceFault || usage.completionTokens === 0);
  return isFree ? "0" : priceOf(usage, pricing);
}
