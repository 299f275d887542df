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

/** The bounds of `minimum` and its like. */
export interface NumberBounds {
  readonly minimum?: JsonNumber | undefined;
  readonly maximum?: JsonNumber | undefined;
  readonly exclusiveMinimum?: JsonNumber | undefined;
  readonly exclusiveMaximum?: JsonNumber | undefined;
}

/** For each bound, how a number must compare with it. */
const comparisons: readonly (readonly [keyof NumberBounds, (order: Order) => boolean])[] = [
  ["minimum", (order) => order >= 0],
  ["maximum", (order) => order <= 0],
  ["exclusiveMinimum", (order) => order > 0],
  ["exclusiveMaximum", (order) => order < 0],
];

/** The universe of a set: numbers without an exponent, or all numbers. */
type Domain = "plain" | "all";

/** Languages that every request needs are made once, at nobody's expense. */
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

/** As many as a schema may ask for with numbers of its own, on either side of the point. */
const maxDigits = 100;

/** The digits of the numbers that a schema writes. */
function digitsOf(values: readonly (JsonNumber | undefined)[]): Digits {
  const written = values.map((value = 0) => plainDigits(decimalOf(value)));
  const most = (part: keyof Digits): number =>
    Math.max(0, ...written.map((one) => one[part].length).filter((count) => count <= maxDigits));
  return { integer: most("integer"), fraction: most("fraction") };
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
 * A set of numbers, held as the language of their spellings in JSON. Arithmetic is decimal and exact: no number is rounded
 * to binary. A set never changes. Sets of multiples, and what is made of them, decide only about numbers without an
 * exponent, and hold no other.
 *
 * Every operation that takes a budget throws `SchemaTooComplexError` once the budget is spent or an automaton has too many
 * states.
 */
export class NumberSet {
  /** Of each number of the domain that is in the set all spellings, and no spelling of a number that is not in the set. */
  readonly #spellings: Language;
  readonly #domain: Domain;
  /** Every number of the set is an integer. */
  readonly isInteger: boolean;
  /** The digits that the numbers of the schema have. A model may always write this many. */
  readonly #asked: Digits;
  /** The digits that a model may write where the schema asks for fewer. */
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
    // Only the result is made smallest: two bounds together have few states as they are.
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
    // The grammar has a rule for each remainder at each digit; few are left of a power of ten.
    const usual = decimal.digits === "1" ? usualDigits : fewDigits;
    return new NumberSet(multiples, "plain", false, digitsOf([divisor]), usual);
  }

  intersect(other: NumberSet, budget: ComplexityBudget): NumberSet {
    return this.#with(other, this.#spellings.intersect(other.#spellings, budget), this.isInteger || other.isInteger);
  }

  union(other: NumberSet, budget: ComplexityBudget): NumberSet {
    return this.#with(other, this.#spellings.union(other.#spellings, budget), this.isInteger && other.isInteger);
  }

  /** A set that was made of this one and another one. */
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

  /** A number of the set that has a shortest spelling; undefined where the set is empty. */
  shortest(): JsonNumber | undefined {
    const text = this.#spellings.shortest();
    return text === undefined ? undefined : toJsonNumber(text);
  }

  /** All numbers of a set of at most `most` integers; undefined where it has more, or others. */
  integers(most: number, budget: ComplexityBudget): JsonNumber[] | undefined {
    if (!this.isInteger) return undefined;
    return this.written(budget).texts(most, budget)?.map(toJsonNumber);
  }

  /**
   * The spellings that a model may write: integers without a fraction, and no more than the usual digits, or as many as the
   * numbers of the schema have.
   * @throws {SchemaTooComplexError} where every number of the set has more
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
