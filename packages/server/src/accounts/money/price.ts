import { Big } from "big.js";
import type { EngineUsage } from "@parley/inference";

/** US dollars as decimal strings: per token, per image, per request. */
export interface Pricing {
  readonly prompt: string;
  readonly completion: string;
  readonly image: string;
  readonly request: string;
}

/**
 * Returns the exact cost in US dollars: prompt tokens × prompt price + completion tokens × completion price + request
 * price.
 */
export function priceOf(usage: Pick<EngineUsage, "promptTokens" | "completionTokens">, pricing: Pricing): string {
  const { prompt, completion, request, digits } = unitsOf(pricing);
  const units = prompt * BigInt(usage.promptTokens) + completion * BigInt(usage.completionTokens) + request;
  return toDecimal(units, digits);
}

/** Prices as integers, in units of 10^-`digits` dollars. */
interface PriceUnits {
  readonly prompt: bigint;
  readonly completion: bigint;
  readonly request: bigint;
  readonly digits: number;
}

/** Parsed prices. All requests of a model share one `Pricing` object, so its prices are parsed once. */
const known = new WeakMap<Pricing, PriceUnits>();

function unitsOf(pricing: Pricing): PriceUnits {
  const found = known.get(pricing);
  if (found) return found;
  const prices = [pricing.prompt, pricing.completion, pricing.request];
  const digits = Math.max(...prices.map((price) => price.split(".")[1]?.length ?? 0));
  const toUnits = (price: string): bigint => BigInt(new Big(price).times(`1e${digits}`).toFixed());
  const { prompt, completion, request } = pricing;
  const units = { prompt: toUnits(prompt), completion: toUnits(completion), request: toUnits(request), digits };
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

export const addUsd = (first: string, ...others: readonly string[]): string =>
  others.reduce((sum, amount) => sum.plus(amount), new Big(first)).toFixed();

export const isAtLeastUsd = (a: string, b: string): boolean => new Big(a).gte(b);
