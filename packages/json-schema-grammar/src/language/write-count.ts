import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { GrammarRules } from "./grammar-rules.ts";

/** llama.cpp refuses long repetitions and unfolds all others, so longer ones are counted in blocks of this size. */
const base = 256;

/** Grammars do not allow longer strings, even if the schema does: no answer is that long. */
export const maxCounted = base ** 3 - 1;

/**
 * GBNF for `min` to `max` repetitions of an item, without a second way to count the same text. A long count is written like
 * a number of base 256: a number of blocks of blocks, of blocks, and of single items.
 * @param item the name of a rule, or a class of characters
 */
export function writeCount(item: string, min: number, max: number, rules: GrammarRules): string {
  if (min > maxCounted)
    throw new SchemaTooComplexError(`a text of the schema must be longer than ${maxCounted} characters`);
  const exact = writeExactly(item, min, rules);
  const rest = max === Infinity ? `${item}*` : writeUpTo(item, Math.min(max, maxCounted) - min, rules);
  return [exact, rest].filter((part) => part !== "").join(" ");
}

/** The digits of the count, the most significant first, each with the expression that it counts. */
function digitsOf(item: string, count: number, rules: GrammarRules): { unit: string; digit: number }[] {
  const digits: { unit: string; digit: number }[] = [];
  let unit = item;
  for (let left = count; left > 0; left = Math.floor(left / base)) {
    if (digits.length > 0) unit = rules.add(`${unit}{${base}}`);
    digits.unshift({ unit, digit: left % base });
  }
  return digits;
}

function writeExactly(item: string, count: number, rules: GrammarRules): string {
  if (count === 1) return item;
  const digits = digitsOf(item, count, rules).filter(({ digit }) => digit > 0);
  return digits.map(({ unit, digit }) => (digit === 1 ? unit : `${unit}{${digit}}`)).join(" ");
}

/** Either all digits are equal to those of the limit, or one is smaller and the digits after it are free. */
function writeUpTo(item: string, limit: number, rules: GrammarRules): string {
  if (limit === 0) return "";
  if (limit < base) return limit === 1 ? `${item}?` : `${item}{0,${limit}}`;
  const digits = digitsOf(item, limit, rules);
  const options = digits.flatMap(({ unit, digit }, index) => {
    const same = digits
      .slice(0, index)
      .flatMap(({ unit: one, digit: times }) => (times > 0 ? [`${one}{${times}}`] : []));
    const isLast = index === digits.length - 1;
    const most = isLast ? digit : digit - 1;
    if (most < 0) return [];
    const smaller = most === 0 ? [] : [`${unit}{0,${most}}`];
    const free = digits.slice(index + 1).map(({ unit: one }) => `${one}{0,${base - 1}}`);
    return [[...same, ...smaller, ...free].join(" ")];
  });
  return options.length === 1 ? (options[0] ?? "") : `(${options.join(" | ")})`;
}
