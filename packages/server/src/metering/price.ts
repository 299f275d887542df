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
  const { prompt, completion, request, digits } = unitsOf(pricing);
  const units = prompt * BigInt(usage.prompt_tokens) + completion * BigInt(usage.completion_tokens) + request;
  return toDecimal(units, digits);
}

/** Prices as whole numbers of a unit that has so many digits behind the point. */
interface PriceUnits {
  readonly prompt: bigint;
  readonly completion: bigint;
  readonly request: bigint;
  readonly digits: number;
}

/** All requests of a model share one object of prices, so the prices of a model are parsed once. */
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

/** The shortest decimal, without an exponent. */
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
