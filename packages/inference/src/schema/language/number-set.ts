import { ComplexityBudget, SchemaTooComplex } from "../complexity-budget.ts";
import { comparisonAutomaton } from "./comparison-automaton.ts";
import type { Order } from "./comparison-automaton.ts";
import { decimalOf, plainText } from "./decimal.ts";
import { Language } from "./language.ts";
import { combine } from "./dfa.ts";
import { multiplesAutomaton } from "./multiples-automaton.ts";
import { allNumbers, plainNumbers, shortIntegers, shortNumbers } from "./number-spellings.ts";

/** The bounds of `minimum` and its like. */
export interface NumberBounds {
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly exclusiveMaximum?: number | undefined;
}

/** For each bound, how a number must compare with it. */
const comparisons: readonly (readonly [keyof NumberBounds, (order: Order) => boolean])[] = [
  ["minimum", (order) => order >= 0],
  ["maximum", (order) => order <= 0],
  ["exclusiveMinimum", (order) => order > 0],
  ["exclusiveMaximum", (order) => order < 0],
];

/** What a set decides about: numbers without an exponent, or all. */
type Domain = "plain" | "all";

/** Languages that every request needs are made once, at nobody's expense. */
const constants = lazily(() => {
  const budget = new ComplexityBudget();
  const plain = plainNumbers(budget);
  return {
    plain,
    all: allNumbers(budget),
    integers: Language.accepted(multiplesAutomaton(decimalOf(1), budget), plain, budget),
    short: shortNumbers(budget),
    shortIntegers: shortIntegers(budget),
  };
});

function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

/**
 * A set of numbers, held as the language of their spellings in JSON. Arithmetic is decimal and exact: no number is rounded
 * to binary. A set never changes. Sets of multiples, and what is made of them, decide only about numbers without an
 * exponent, and hold no other.
 *
 * Every operation that takes a budget throws `SchemaTooComplex` once the budget is spent or an automaton has too many
 * states.
 */
export class NumberSet {
  /** Of each number of the domain that is in the set all spellings, and no spelling of a number that is not in the set. */
  readonly #spellings: Language;
  readonly #domain: Domain;
  /** Every number of the set is an integer. */
  readonly isInteger: boolean;

  private constructor(spellings: Language, domain: Domain, isInteger = false) {
    this.#spellings = spellings;
    this.#domain = domain;
    this.isInteger = isInteger;
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
      return bound === undefined ? [] : [comparisonAutomaton(decimalOf(bound + 0), accepts, budget)];
    });
    const all = isInteger ? NumberSet.integers() : NumberSet.any();
    if (compared.length === 0) return all;
    // Only the result is made smallest: two bounds together have few states as they are.
    const both = compared.reduce((some, one) => combine(some, one, (inSome, inOne) => inSome && inOne, budget));
    return new NumberSet(Language.accepted(both, all.#spellings, budget), all.#domain, isInteger);
  }

  static of(values: Iterable<number>, budget: ComplexityBudget): NumberSet {
    let set = new NumberSet(Language.none, "all");
    for (const value of values) {
      const equal = comparisonAutomaton(decimalOf(value + 0), (order) => order === 0, budget);
      set = set.union(new NumberSet(Language.accepted(equal, constants().all, budget), "all"), budget);
    }
    return set;
  }

  /** @param divisor more than 0 */
  static multiplesOf(divisor: number, budget: ComplexityBudget): NumberSet {
    const multiples = multiplesAutomaton(decimalOf(divisor), budget);
    return new NumberSet(Language.accepted(multiples, constants().plain, budget), "plain");
  }

  intersect(other: NumberSet, budget: ComplexityBudget): NumberSet {
    const both = this.#spellings.intersect(other.#spellings, budget);
    return new NumberSet(both, this.#commonDomain(other), this.isInteger || other.isInteger);
  }

  union(other: NumberSet, budget: ComplexityBudget): NumberSet {
    const either = this.#spellings.union(other.#spellings, budget);
    return new NumberSet(either, this.#commonDomain(other), this.isInteger && other.isInteger);
  }

  minus(other: NumberSet, budget: ComplexityBudget): NumberSet {
    return this.intersect(other.complement(budget), budget);
  }

  /** All other numbers of the domain. */
  complement(budget: ComplexityBudget): NumberSet {
    return new NumberSet(constants()[this.#domain].minus(this.#spellings, budget), this.#domain);
  }

  #commonDomain(other: NumberSet): Domain {
    return this.#domain === other.#domain ? this.#domain : "plain";
  }

  get isEmpty(): boolean {
    return this.#spellings.isEmpty;
  }

  isDisjointFrom(other: NumberSet, budget: ComplexityBudget): boolean {
    return this.intersect(other, budget).isEmpty;
  }

  includes(value: number): boolean {
    const decimal = decimalOf(value + 0);
    return this.#spellings.includes(plainText(decimal)) || this.#spellings.includes((value + 0).toExponential());
  }

  /** A number of the set that has a shortest spelling; undefined where the set is empty. */
  shortest(): number | undefined {
    const text = this.#spellings.shortest();
    return text === undefined ? undefined : Number(text);
  }

  /** All numbers of a set of at most `most` integers; undefined where it has more, or others. */
  integers(most: number, budget: ComplexityBudget): number[] | undefined {
    if (!this.isInteger) return undefined;
    return this.written(budget).texts(most, budget)?.map(Number);
  }

  /**
   * The spellings that a model may write: integers without a fraction, and no more than 20 digits before or after the point.
   * @throws {SchemaTooComplex} where every number of the set has more
   */
  written(budget: ComplexityBudget): Language {
    const { short, shortIntegers: integers } = constants();
    const written = this.#spellings.intersect(this.isInteger ? integers : short, budget);
    if (written.isEmpty) throw new SchemaTooComplex("a number of the schema needs more than 20 digits");
    return written;
  }

  /** Sets with equal keys are equal. */
  get key(): string {
    return `${this.isInteger ? "integer" : "number"} ${this.#spellings.key}`;
  }
}
