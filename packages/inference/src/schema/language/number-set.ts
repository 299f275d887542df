import { ComplexityBudget, SchemaTooComplex } from "../complexity-budget.ts";
import { decimalOf, plainText } from "./decimal.ts";
import { Language } from "./language.ts";
import { multiplesAutomaton } from "./multiples-automaton.ts";
import { allNumbers, beyond, exactly, plainNumbers, shortIntegers, shortNumbers } from "./number-spellings.ts";

/** What a set decides about: numbers without an exponent, or all. */
type Domain = "plain" | "all";

/** Languages that every request needs are made once, at nobody's expense. */
const constants = lazily(() => {
  const budget = new ComplexityBudget();
  return {
    plain: plainNumbers(budget),
    all: allNumbers(budget),
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

  static integers(budget: ComplexityBudget): NumberSet {
    return new NumberSet(NumberSet.multiplesOf(1, budget).#spellings, "plain", true);
  }

  static atLeast(bound: number, budget: ComplexityBudget): NumberSet {
    return NumberSet.lessThan(bound, budget).complement(budget);
  }

  static atMost(bound: number, budget: ComplexityBudget): NumberSet {
    return NumberSet.moreThan(bound, budget).complement(budget);
  }

  static moreThan(bound: number, budget: ComplexityBudget): NumberSet {
    if (bound >= 0) return NumberSet.#inDomain(beyond(decimalOf(bound + 0), budget), budget);
    return NumberSet.lessThan(bound, budget)
      .union(NumberSet.of([bound], budget), budget)
      .complement(budget);
  }

  static lessThan(bound: number, budget: ComplexityBudget): NumberSet {
    if (bound < 0) return NumberSet.#inDomain(beyond(decimalOf(bound), budget), budget);
    return NumberSet.moreThan(bound, budget)
      .union(NumberSet.of([bound], budget), budget)
      .complement(budget);
  }

  static of(values: Iterable<number>, budget: ComplexityBudget): NumberSet {
    let spellings = Language.none;
    for (const value of values) spellings = spellings.union(exactly(decimalOf(value + 0), budget), budget);
    return NumberSet.#inDomain(spellings, budget);
  }

  /** @param divisor more than 0 */
  static multiplesOf(divisor: number, budget: ComplexityBudget): NumberSet {
    const multiples = Language.accepted(multiplesAutomaton(decimalOf(divisor), budget), budget);
    return new NumberSet(multiples.intersect(constants().plain, budget), "plain");
  }

  static #inDomain(spellings: Language, budget: ComplexityBudget): NumberSet {
    return new NumberSet(spellings.intersect(constants().all, budget), "all");
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
