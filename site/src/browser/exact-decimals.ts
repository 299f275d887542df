/** Decimal numbers as a whole number of units: `units` × 10^-`places`. Prices are never doubles. */
export interface Decimal {
  readonly units: bigint;
  readonly places: number;
}

/** Reads a decimal without sign and exponent, such as `0.0000003`. Returns undefined for other texts. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : { units: BigInt(whole + fraction), places: fraction.length };
}

export const multiply = ({ units, places }: Decimal, count: bigint): Decimal => ({ units: units * count, places });

export function add(one: Decimal, other: Decimal): Decimal {
  const places = Math.max(one.places, other.places);
  const unitsOf = (decimal: Decimal): bigint => decimal.units * 10n ** BigInt(places - decimal.places);
  return { units: unitsOf(one) + unitsOf(other), places };
}

/** Writes a decimal without needless zeros. */
export function formatDecimal({ units, places }: Decimal): string {
  const digits = String(units).padStart(places + 1, "0");
  const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)];
  const kept = fraction.replace(/0+$/, "");
  return kept === "" ? whole : `${whole}.${kept}`;
}
