import type { EngineUsage } from "@parley/inference";
import { priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";
import type { Outcome } from "./usage-ledger.ts";

/** What an ended request costs in US dollars: its price, but a failure that produced nothing costs nothing. */
export function finalCost(usage: EngineUsage, outcome: Outcome, pricing: Pricing): string {
  const isFree = usage.completion_tokens === 0 && (outcome === "failed" || outcome === "abandoned");
  return isFree ? "0" : priceOf(usage, pricing);
}
