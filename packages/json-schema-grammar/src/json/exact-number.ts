import { compareDecimals, decimalOf, decimalOfText, isWhole, scientificText } from "./decimal.ts";
import type { Decimal } from "./decimal.ts";

// Node has `JSON.rawJSON` since version 22. TypeScript does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

/**
 * A number of a JSON text that a double would change (9007199254740993 would become …992, and 1e400 infinite), or that
 * JavaScript would write with an exponent (1000000000000000000000 as 1e+21). `JSON.stringify` writes it unchanged.
 */
export class ExactNumber {
  /** The number as the JSON text has it. */
  readonly text: string;
  readonly decimal: Decimal;

  constructor(text: string, decimal = decimalOfText(text)) {
    this.text = text;
    this.decimal = decimal;
  }

  toJSON(): object {
    return rawJSON(this.text);
  }

  toString(): string {
    return this.text;
  }
}

/** A number that JSON can hold. */
export type JsonNumber = number | ExactNumber;

export const isJsonNumber = (value: unknown): value is JsonNumber =>
  typeof value === "number" || value instanceof ExactNumber;

/** Parses a number of a JSON text: to a double if JavaScript writes it as the same decimal, otherwise to an `ExactNumber`. */
export function toJsonNumber(text: string): JsonNumber {
  const value = Number(text);
  const hasExponent = /[eE]/.test(text);
  if (!hasExponent && hasExponentIn(value)) return new ExactNumber(text);
  // A double holds every number of 15 digits, if it is neither very large nor very small.
  if (!hasExponent && text.length <= 15) return value;
  const decimal = decimalOfText(text);
  const isSame = Number.isFinite(value) && scientificText(decimalOf(value)) === scientificText(decimal);
  return isSame ? value : new ExactNumber(text, decimal);
}

/** Checks if JavaScript writes the number with an exponent, or as a word. */
const hasExponentIn = (value: number): boolean => value !== 0 && !(Math.abs(value) >= 1e-6 && Math.abs(value) < 1e21);

/** Equal numbers have equal keys. */
export const keyOfNumber = (value: JsonNumber): number | string =>
  typeof value === "number" && !hasExponentIn(value) ? value + 0 : scientificText(decimalOf(value));

/** Returns a JSON text of a number that is the same for equal numbers. */
export const canonicalNumber = (value: ExactNumber): object => rawJSON(scientificText(value.decimal));

export const isInteger = (value: JsonNumber): boolean =>
  typeof value === "number" ? Number.isInteger(value) : isWhole(value.decimal);

/** Returns a negative number if `one` is less, a positive one if it is more, and 0 if both are equal. */
export const compareNumbers = (one: JsonNumber, other: JsonNumber): number =>
  typeof one === "number" && typeof other === "number"
    ? one - other
    : compareDecimals(decimalOf(one), decimalOf(other));
