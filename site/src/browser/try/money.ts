import { add, formatDecimal, multiply, parseDecimal } from "../exact-decimals.ts";
import type { Decimal } from "../exact-decimals.ts";

const zero: Decimal = { units: 0n, places: 0 };
const decimalOf = (text: string): Decimal => parseDecimal(text) ?? zero;

/** Returns the exact sum of amounts such as "0.0000102". Text that is not an amount counts as 0. */
export const sum = (amounts: readonly string[]): string =>
  formatDecimal(amounts.reduce((all, amount) => add(all, decimalOf(amount)), zero));

/** Returns the exact price of a number of tokens. */
export const priceOf = (price: string, tokens: number): string =>
  formatDecimal(multiply(decimalOf(price), BigInt(tokens)));
