import type { ComplexityBudget } from "../complexity-budget.ts";
import type { Digits } from "./digits.ts";
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
 * The spellings that a model may write, with at most the given number of digits. 17 digits and an exponent hold every double.
 * Larger exponents than 307 could give numbers that are infinite for JavaScript.
 */
export const shortNumbers = ({ integer, fraction }: Digits, budget: ComplexityBudget): Language =>
  Language.pattern(
    anchored(
      `-?\\d{1,${integer}}(\\.\\d{1,${fraction}})?`,
      String.raw`-?\d(\.\d{1,16})?[eE][-+]?(\d{1,2}|[0-2]\d\d|30[0-7])`,
    ),
    budget,
  );

/** The same for integers: they have no fraction. */
export const shortIntegers = ({ integer }: Digits, budget: ComplexityBudget): Language =>
  Language.pattern(`^-?\\d{1,${integer}}$`, budget);
