import { ComplexityBudget, SchemaTooComplexError } from "../complexity-budget.ts";
import { comparisonAutomaton } from "./comparison-automaton.ts";
import type { Order } from "./comparison-automaton.ts";
import { decimalOf, plainDigits, plainText, scientificText } from "../json/decimal.ts";
import { toJsonNumber } from "../json/exact-number.ts";
import type { JsonNumber } from "../json/exact-number.ts";
import { Language } from "./language.ts";
import { combine } from "./dfa.ts";
import { multiplesAutomaton } from "./multiples-automaton.ts";
import { fewDigits, usualDigits } from "./digits.ts";
import { allNumbers, plainNumbers, shortIntegers, shortNumbers } from "./number-spellings.ts";
import type { Digits } from "./digits.ts";

/** The bounds of `minimum` and similar keywords. */
export interface NumberBounds {
  readonly minimum?: JsonNumber | undefined;
  readonly maximum?: JsonNumber | undefined;
  readonly exclusiveMinimum?: JsonNumber | undefined;
  readonly exclusiveMaximum?: JsonNumber | undefined;
}

/** For each bound, the allowed results of comparing a number with it. */
const comparisons: readonly (readonly [keyof NumberBounds, (order: Order) => boolean])[] = [
  ["minimum", (order) => order >= 0],
  ["maximum", (order) => order <= 0],
  ["exclusiveMinimum", (order) => order > 0],
  ["exclusiveMaximum", (order) => order < 0],
];

/** The universe of a set: numbers without an exponent, or all numbers. */
type Domain = "plain" | "all";

/** Languages that every request needs. They are computed once, outside of all budgets. */
const constants = lazily(() => {
  const budget = new ComplexityBudget();
  const plain = plainNumbers(budget);
  return {
    plain,
    all: allNumbers(budget),
    integers: Language.accepted(multiplesAutomaton(decimalOf(1), budget), plain, budget),
    short: shortNumbers(usualDigits, budget),
    shortIntegers: shortIntegers(usualDigits, budget),
  };
});

function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

/** The maximum number of digits that numbers of a schema can ask for, on either side of the point. */
const maxDigits = 100;

/** The digits of the numbers that a schema writes. */
function digitsOf(values: readonly (JsonNumber | undefined)[]): Digits {
  const written = values.map((value = 0) => plainDigits(decimalOf(value)));
  const longest = (part: keyof Digits): number =>
    Math.max(0, ...written.map((one) => one[part].length).filter((count) => count <= maxDigits));
  return { integer: longest("integer"), fraction: longest("fraction") };
}

const none: Digits = { integer: 0, fraction: 0 };

const choose = (one: Digits, other: Digits, which: (one: number, other: number) => number): Digits => ({
  integer: which(one.integer, other.integer),
  fraction: which(one.fraction, other.fraction),
});

function shortSpellings(isInteger: boolean, digits: Digits, budget: ComplexityBudget): Language {
  const { short, shortIntegers: integers } = constants();
  if (isInteger) return digits.integer === usualDigits.integer ? integers : shortIntegers(digits, budget);
  const isUsual = digits.integer === usualDigits.integer && digits.fraction === usualDigits.fraction;
  return isUsual ? short : shortNumbers(digits, budget);
}

/**
 * A set of numbers, held as the language of their spellings in JSON. Arithmetic is decimal and exact: no number is rounded to
 * binary. A set never changes. Sets of multiples, and sets made from them, contain only numbers without an exponent.
 *
 * Every operation that takes a budget throws `SchemaTooComplexError` once the budget is spent or an automaton has too many
 * states.
 */
export class NumberSet {
  /** For each number of the domain in the set, all its spellings. For other numbers, none. */
  readonly #spellings: Language;
  readonly #domain: Domain;
  /** Every number of the set is an integer. */
  readonly isInteger: boolean;
  /** The number of digits of the schema's numbers. A model may always write this many. */
  readonly #asked: Digits;
  /** The number of digits that a model may write if the schema asks for fewer. */
  readonly #usual: Digits;

  private constructor(spellings: Language, domain: Domain, isInteger = false, asked = none, usual = usualDigits) {
    this.#spellings = spellings;
    this.#domain = domain;
    this.isInteger = isInteger;
    this.#asked = asked;
    this.#usual = usual;
  }

  static any(): NumberSet {
    return new NumberSet(constants().all, "all");
  }

  static integers(): NumberSet {
    return new NumberSet(constants().integers, "plain", true);
  }

  /** All numbers within the bounds, or only the integers. */
  static within(bounds: NumberBounds, isInteger: boolean, budget: ComplexityBudget): NumberSet {
    const compared = comparisons.flatMap(([keyword, accepts]) => {
      const bound = bounds[keyword];
      return bound === undefined ? [] : [comparisonAutomaton(decimalOf(bound), accepts, budget)];
    });
    const all = isInteger ? NumberSet.integers() : NumberSet.any();
    if (compared.length === 0) return all;
    // Only the result is minimized, because the combination of two bounds has few states anyway.
    const both = compared.reduce((some, one) => combine(some, one, (inSome, inOne) => inSome && inOne, budget));
    const spellings = Language.accepted(both, all.#spellings, budget);
    return new NumberSet(spellings, all.#domain, isInteger, digitsOf(Object.values(bounds)));
  }

  static of(values: Iterable<JsonNumber>, budget: ComplexityBudget): NumberSet {
    let set = new NumberSet(Language.none, "all");
    for (const value of values) {
      const equal = comparisonAutomaton(decimalOf(value), (order) => order === 0, budget);
      const spellings = Language.accepted(equal, constants().all, budget);
      set = set.union(new NumberSet(spellings, "all", false, digitsOf([value])), budget);
    }
    return set;
  }

  /** @param divisor more than 0 */
  static multiplesOf(divisor: JsonNumber, budget: ComplexityBudget): NumberSet {
    const decimal = decimalOf(divisor);
    const multiples = Language.accepted(multiplesAutomaton(decimal, budget), constants().plain, budget);
    // The grammar has a rule for each remainder at each digit. For a power of ten, there are few.
    const usual = decimal.digits === "1" ? usualDigits : fewDigits;
    return new NumberSet(multiples, "plain", false, digitsOf([divisor]), usual);
  }

  intersect(other: NumberSet, budget: ComplexityBudget): NumberSet {
    return this.#with(other, this.#spellings.intersect(other.#spellings, budget), this.isInteger || other.isInteger);
  }

  union(other: NumberSet, budget: ComplexityBudget): NumberSet {
    return this.#with(other, this.#spellings.union(other.#spellings, budget), this.isInteger && other.isInteger);
  }

  /** Returns a set made from this one and another one. */
  #with(other: NumberSet, spellings: Language, isInteger: boolean): NumberSet {
    const domain = this.#domain === other.#domain ? this.#domain : "plain";
    const asked = choose(this.#asked, other.#asked, Math.max);
    return new NumberSet(spellings, domain, isInteger, asked, choose(this.#usual, other.#usual, Math.min));
  }

  minus(other: NumberSet, budget: ComplexityBudget): NumberSet {
    return this.intersect(other.complement(budget), budget);
  }

  /** All other numbers of the domain. */
  complement(budget: ComplexityBudget): NumberSet {
    const spellings = constants()[this.#domain].minus(this.#spellings, budget);
    return new NumberSet(spellings, this.#domain, false, this.#asked, this.#usual);
  }

  get isEmpty(): boolean {
    return this.#spellings.isEmpty;
  }

  isDisjointFrom(other: NumberSet, budget: ComplexityBudget): boolean {
    return this.intersect(other, budget).isEmpty;
  }

  includes(value: JsonNumber): boolean {
    const decimal = decimalOf(value);
    return this.#spellings.includes(plainText(decimal)) || this.#spellings.includes(scientificText(decimal));
  }

  /** Returns a number with a shortest spelling, or undefined if the set is empty. */
  shortest(): JsonNumber | undefined {
    const text = this.#spellings.shortest();
    return text === undefined ? undefined : toJsonNumber(text);
  }

  /** Returns all numbers of a set of at most `max` integers. Undefined if it has more, or other numbers. */
  integers(max: number, budget: ComplexityBudget): JsonNumber[] | undefined {
    if (!this.isInteger) return undefined;
    return this.written(budget).texts(max, budget)?.map(toJsonNumber);
  }

  /**
   * Returns the spellings that a model may write: integers without a fraction, and at most the usual number of digits, or that of the schema's numbers. @throws {SchemaTooComplexError} if every number of the set has more
   */
  written(budget: ComplexityBudget): Language {
    const digits = choose(this.#usual, this.#asked, Math.max);
    this.#written ??= this.#spellings.intersect(shortSpellings(this.isInteger, digits, budget), budget);
    if (this.#written.isEmpty)
      throw new SchemaTooComplexError(
        `a number of the schema needs more than ${digits.integer} digits before the point, or ${digits.fraction} after it`,
      );
    return this.#written;
  }
  #written: Language | undefined;

  /** Sets with equal keys are equal. */
  get key(): string {
    return `${this.isInteger ? "integer" : "number"} ${this.#spellings.key}`;
  }
}
