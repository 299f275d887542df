import type { ExactNumber, JsonNumber } from "./exact-number.ts";

/** A finite decimal number: ±d.ddd… · 10^exponent. */
export interface Decimal {
  readonly isNegative: boolean;
  /** The digits without zeros at either end. Empty for 0. */
  readonly digits: string;
  readonly exponent: number;
}

/** Returns the decimal that JavaScript prints for a double: the shortest one that is read as the same number. */
export const decimalOf = (value: JsonNumber): Decimal =>
  typeof value === "number" ? decimalOfText((value + 0).toExponential()) : (value satisfies ExactNumber).decimal;

/** @param text a number as JSON writes it */
export function decimalOfText(text: string): Decimal {
  const [, sign, integer = "", fraction = "", exponent = "0"] = spelling.exec(text) ?? [];
  const all = integer + fraction;
  let first = 0;
  while (all[first] === "0") first += 1;
  let end = all.length;
  while (end > first && all[end - 1] === "0") end -= 1;
  if (first === end) return { isNegative: false, digits: "", exponent: 0 };
  const digits = all.slice(first, end);
  return { isNegative: sign === "-", digits, exponent: Number(exponent) + integer.length - 1 - first };
}

const spelling = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** Returns the digits before and after the decimal point, without leading and trailing zeros. */
export function plainDigits({ digits, exponent }: Decimal): { integer: string; fraction: string } {
  if (exponent < 0) return { integer: "", fraction: "0".repeat(-exponent - 1) + digits };
  const integer = digits.slice(0, exponent + 1);
  return { integer: digits === "" ? "" : integer.padEnd(exponent + 1, "0"), fraction: digits.slice(exponent + 1) };
}

/** Writes the decimal as a JSON number without an exponent. */
export function plainText(decimal: Decimal): string {
  const { integer, fraction } = plainDigits(decimal);
  return `${decimal.isNegative ? "-" : ""}${integer || "0"}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Writes the decimal as a JSON number with one digit before the point and an exponent. Equal decimals have equal texts. */
export function scientificText({ isNegative, digits, exponent }: Decimal): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${isNegative ? "-" : ""}${digits[0] ?? "0"}${fraction}e${exponent < 0 ? "" : "+"}${exponent}`;
}

/** Returns a negative number if `one` is less, a positive one if it is more, and 0 if both are equal. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  const sign = signOf(one);
  if (sign !== signOf(other)) return sign - signOf(other);
  if (one.exponent !== other.exponent) return sign * (one.exponent - other.exponent);
  if (one.digits === other.digits) return 0;
  // Digits without trailing zeros compare like texts: of two with the same beginning, the longer one is larger.
  return one.digits < other.digits ? -sign : sign;
}

const signOf = ({ digits, isNegative }: Decimal): number => (digits === "" ? 0 : isNegative ? -1 : 1);

export const isWhole = ({ digits, exponent }: Decimal): boolean => exponent >= digits.length - 1;
