import { Big } from "big.js";
import type { EngineUsage } from "@parley/inference";

/** US dollars as decimal strings: per token, per image, per request. */
export interface Pricing {
  readonly prompt: string;
  readonly completion: string;
  readonly image: string;
  readonly request: string;
}

/** The exact cost: prompt tokens × prompt price + completion tokens × completion price + the price of a request. */
export function priceOf(usage: Pick<EngineUsage, "prompt_tokens" | "completion_tokens">, pricing: Pricing): string {
  return new Big(pricing.prompt)
    .times(usage.prompt_tokens)
    .plus(new Big(pricing.completion).times(usage.completion_tokens))
    .plus(pricing.request)
    .toFixed();
}

export const addUsd = (first: string, ...others: readonly string[]): string =>
  others.reduce((sum, amount) => sum.plus(amount), new Big(first)).toFixed();

export const isAtLeastUsd = (a: string, b: string): boolean => new Big(a).gte(b);
