/** A finite decimal number: ±d.ddd… · 10^exponent. */
export interface Decimal {
  readonly isNegative: boolean;
  /** Without zeros at either end; empty for 0. */
  readonly digits: string;
  readonly exponent: number;
}

/** The decimal that JavaScript prints for the number: the shortest one that is read as the same number. */
export function decimalOf(value: number): Decimal {
  const [, sign, mantissa = "", exponent] = /^(-?)([\d.]+)e(.*)$/.exec(value.toExponential()) ?? [];
  const digits = mantissa.replace(".", "").replace(/0+$/, "");
  return { isNegative: sign === "-", digits, exponent: digits === "" ? 0 : Number(exponent) };
}

/** The digits before and after the decimal point, without leading zeros before it and trailing zeros after it. */
export function plainDigits({ digits, exponent }: Decimal): { integer: string; fraction: string } {
  if (exponent < 0) return { integer: "", fraction: "0".repeat(-exponent - 1) + digits };
  const integer = digits.slice(0, exponent + 1);
  return { integer: digits === "" ? "" : integer.padEnd(exponent + 1, "0"), fraction: digits.slice(exponent + 1) };
}

/** The decimal as a JSON number, without an exponent. */
export function plainText(decimal: Decimal): string {
  const { integer, fraction } = plainDigits(decimal);
  return `${decimal.isNegative ? "-" : ""}${integer || "0"}${fraction === "" ? "" : `.${fraction}`}`;
}
