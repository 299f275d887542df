import { Big } from "big.js";
import type { EngineUsage } from "@parley/inference";

/** US dollars as decimal strings: per token, per image, per request. */
export interface Pricing {
  readonly prompt: string;
  readonly completion: string;
  readonly image: string;
  readonly request: string;
  /** For a prompt token that was in the cache, at most `prompt`; absent: the same as `prompt`. */
  readonly input_cache_read?: string;
}

/**
 * Returns the exact cost in US dollars: prompt tokens × prompt price + completion tokens × completion price + request
 * price. The cached tokens among the prompt's have their own price, if there is one.
 */
export function priceOf(usage: Omit<EngineUsage, "reasoningTokens">, pricing: Pricing): string {
  const { prompt, cached, completion, request, digits } = unitsOf(pricing);
  // An engine that reports more cached tokens than the prompt has must not lower the price of the prompt below theirs.
  const cachedTokens = BigInt(Math.min(usage.cachedTokens, usage.promptTokens));
  const promptUnits = prompt * (BigInt(usage.promptTokens) - cachedTokens) + cached * cachedTokens;
  const units = promptUnits + completion * BigInt(usage.completionTokens) + request;
  return toDecimal(units, digits);
}

/** Prices as integers, in units of 10^-`digits` dollars. */
interface PriceUnits {
  readonly prompt: bigint;
  readonly cached: bigint;
  readonly completion: bigint;
  readonly request: bigint;
  readonly digits: number;
}

/** Parsed prices. All requests of a model share one `Pricing` object, so its prices are parsed once. */
const known = new WeakMap<Pricing, PriceUnits>();

function unitsOf(pricing: Pricing): PriceUnits {
  const found = known.get(pricing);
  if (found) return found;
  const { prompt, completion, request, input_cache_read: cached = prompt } = pricing;
  const prices = [prompt, completion, request, cached];
  const digits = Math.max(...prices.map((price) => price.split(".")[1]?.length ?? 0));
  const toUnits = (price: string): bigint => BigInt(new Big(price).times(`1e${digits}`).toFixed());
  const units = {
    prompt: toUnits(prompt),
    cached: toUnits(cached),
    completion: toUnits(completion),
    request: toUnits(request),
    digits,
  };
  known.set(pricing, units);
  return units;
}

/** Formats units as a decimal without an exponent or trailing zeros. */
function toDecimal(units: bigint, digits: number): string {
  if (digits === 0) return units.toString();
  const text = units.toString().padStart(digits + 1, "0");
  const fraction = text.slice(-digits).replace(/0+$/, "");
  const whole = text.slice(0, -digits);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Returns a sum without an exponent or needless zeros. */
export const addUsd = (first: string, ...others: readonly string[]): string =>
  others.reduce((sum, amount) => sum.plus(amount), new Big(first)).toFixed();

export const isAtLeastUsd = (a: string, b: string): boolean => new Big(a).gte(b);
