import type { ComplexityBudget } from "../complexity-budget.ts";
import { plainDigits } from "./decimal.ts";
import type { Decimal } from "./decimal.ts";
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

/** Among others, all spellings of numbers that lie further from 0 than the bound, on the bound's side. */
export function beyond(bound: Decimal, budget: ComplexityBudget): Language {
  const { integer, fraction } = plainDigits(bound);
  const longer = [String.raw`[1-9]\d{${integer.length},}(\.\d+)?`, ...largerWithExponent(bound)];
  const sameLength = String.raw`${integer === "" ? "0" : String.raw`\d{${integer.length}}`}(\.\d+)?`;
  const larger = Language.pattern(anchored(...signed(bound, [firstLarger(integer || "0", fraction)])), budget);
  return larger
    .intersect(Language.pattern(anchored(...signed(bound, [sameLength])), budget), budget)
    .union(Language.pattern(anchored(...signed(bound, longer)), budget), budget);
}

/** Among others, all spellings of the value. */
export const exactly = (value: Decimal, budget: ComplexityBudget): Language =>
  Language.pattern(anchored(...signed(value, equal(value))), budget);

const signed = ({ isNegative }: Decimal, patterns: readonly string[]): string[] =>
  patterns.map((pattern) => (isNegative ? `-${pattern}` : pattern));

/** A pattern of texts whose first digit that differs is larger. Both have as many digits before the point. */
function firstLarger(integer: string, fraction: string): string {
  const inFraction = nested(fraction, String.raw`\d*[1-9]\d*`);
  return nested(integer, String.raw`\.${inFraction}`);
}

const nested = (digits: string, end: string): string =>
  Array.from(digits).reduceRight((rest, digit) => {
    const same = `${digit}${rest}`;
    return digit === "9" ? same : String.raw`([${Number(digit) + 1}-9][\d.]*|${same})`;
  }, end);

function largerWithExponent({ digits, exponent }: Decimal): string[] {
  if (digits === "") return [String.raw`\d[\d.]*[eE].*`];
  const mantissa = firstLarger(digits.slice(0, 1), digits.slice(1));
  return [
    String.raw`[1-9][\d.]*[eE](${largerExponents(exponent).join("|")})`,
    `${mantissa}[eE](${equalExponent(exponent)})`,
  ];
}

function equal(value: Decimal): string[] {
  const { integer, fraction } = plainDigits(value);
  const plainly = `${integer || "0"}${withZeros(fraction)}`;
  if (value.digits === "") return [plainly];
  const mantissa = `${value.digits.slice(0, 1)}${withZeros(value.digits.slice(1))}`;
  return [plainly, `${mantissa}[eE](${equalExponent(value.exponent)})`];
}

const withZeros = (fraction: string): string => (fraction === "" ? String.raw`(\.0+)?` : String.raw`\.${fraction}0*`);

function largerExponents(exponent: number): string[] {
  const digits = String(Math.abs(exponent));
  if (exponent >= 0) {
    const longer = String.raw`[1-9]\d{${digits === "0" ? 0 : digits.length},}`;
    return [longer, ...differing(digits, (digit) => [digit + 1, 9])].map((pattern) => String.raw`\+?0*${pattern}`);
  }
  const shorter = digits.length > 1 ? [String.raw`\d{1,${digits.length - 1}}`] : [];
  const smaller = [...shorter, ...differing(digits, (digit) => [0, digit - 1])];
  return [String.raw`\+?\d+`, ...smaller.map((pattern) => `-0*${pattern}`)];
}

/** Patterns of as many digits, of which the first that differs is in a range. */
const differing = (digits: string, range: (digit: number) => readonly [number, number]): string[] =>
  Array.from(digits).flatMap((digit, index) => {
    const [from, to] = range(Number(digit));
    return from > to ? [] : [String.raw`${digits.slice(0, index)}[${from}-${to}]\d{${digits.length - index - 1}}`];
  });

const equalExponent = (exponent: number): string => {
  if (exponent === 0) return "[-+]?0+";
  return exponent > 0 ? String.raw`\+?0*${exponent}` : `-0*${-exponent}`;
};
