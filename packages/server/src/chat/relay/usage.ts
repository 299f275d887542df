import type { EngineUsage } from "@parley/inference";
import type { components } from "@parley/contract/types";

export type Usage = components["schemas"]["Usage"];

/** Returns the contract's usage object, with the cost in US dollars. */
export const toUsage = (usage: EngineUsage, costUsd: string): Usage => ({
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  cost_usd: costUsd,
});
