import type { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "./language.ts";

const anchored = (...patterns: string[]): string => `^(${patterns.join("|")})$`;

/** Numbers without an exponent. Zero has no sign. */
const plain = String.raw`-?(0|[1-9]\d*)(\.\d+)?`;
/** Numbers with one digit before the point, and an exponent. */
const scientific = String.raw`-?[1-9](\.\d+)?[eE][-+]?\d+`;
const negativeZero = String.raw`-[0.]+`;

/** All spellings without an exponent. */
export function plainNumbers(budget: ComplexityBudget): Language {
  return Language.pattern(anchored(plain), budget).minus(Language.pattern(anchored(negativeZero), budget), budget);
}

/** All spellings. */
export function allNumbers(budget: ComplexityBudget): Language {
  return plainNumbers(budget).union(Language.pattern(anchored(scientific), budget), budget);
}

/**
 * The spellings that a model may write. 20 digits before the point hold every 64-bit integer, 17 digits and an exponent every
 * double. More digits would only let a small model fill its whole answer with them. Larger exponents than 307 could give
 * numbers that are infinite for JavaScript.
 */
export const shortNumbers = (budget: ComplexityBudget): Language =>
  Language.pattern(
    anchored(String.raw`-?\d{1,20}(\.\d{1,20})?`, String.raw`-?\d(\.\d{1,16})?[eE][-+]?(\d{1,2}|[0-2]\d\d|30[0-7])`),
    budget,
  );

/** The same for integers: they have no fraction. */
export const shortIntegers = (budget: ComplexityBudget): Language => Language.pattern(String.raw`^-?\d{1,20}$`, budget);
