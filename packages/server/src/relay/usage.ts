import type { EngineUsage } from "@parley/inference";
import type { components } from "../generated/contract.ts";

export type Usage = components["schemas"]["Usage"];

/** Returns the contract's usage object, with the cost in US dollars. */
export const toUsage = (usage: EngineUsage, costUsd: string): Usage => ({
  prompt_tokens: usage.prompt_tokens,
  completion_tokens: usage.completion_tokens,
  total_tokens: usage.prompt_tokens + usage.completion_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  cost_usd: costUsd,
});
