import type { EngineUsage } from "@parley/inference";

/** The tokens of a request, under the names that the contract, the database and the tables of an operator use. */
export interface TokenColumns {
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens: number;
}

export const toTokenColumns = (usage: EngineUsage): TokenColumns => ({
  prompt_tokens: usage.promptTokens,
  cached_tokens: usage.cachedTokens,
  completion_tokens: usage.completionTokens,
  reasoning_tokens: usage.reasoningTokens,
});

export const fromTokenColumns = (columns: TokenColumns): EngineUsage => ({
  promptTokens: columns.prompt_tokens,
  cachedTokens: columns.cached_tokens,
  completionTokens: columns.completion_tokens,
  reasoningTokens: columns.reasoning_tokens,
});
