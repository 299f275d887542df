import type { EngineUsage } from "@parley/inference";
import { priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";
import type { Outcome } from "./usage-ledger.ts";

/** How a request ended. */
export interface Ending {
  readonly outcome: Outcome;
  /** The code of the error that ended it, from the contract's catalogue. */
  readonly errorCode: string | undefined;
  /** The engine or the service failed, not the request. */
  readonly isServiceFault: boolean;
}

/** What an ended request costs in US dollars: its price. A failure costs nothing if it produced nothing, or was the service's. */
export function finalCost(usage: EngineUsage, { outcome, isServiceFault }: Ending, pricing: Pricing): string {
  const isFailure = outcome === "failed" || outcome === "abandoned";
  const isFree = isFailure && (isServiceFault || usage.completion_tokens === 0);
  return isFree ? "0" : priceOf(usage, pricing);
}
