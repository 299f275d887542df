import { isInteger, keyOfNumber } from "../json/exact-number.ts";
import type { JsonNumber } from "../json/exact-number.ts";
import { ComplexityBudget } from "../complexity-budget.ts";
import type { NumberFormat } from "../language/number-formats.ts";
import { NumberSet } from "../language/number-set.ts";
import type { NumberBounds } from "../language/number-set.ts";

/**
 * A set of numbers. Most schemas need no more than all numbers, all integers or a list; automata are made only for the
 * others. Sets of the same numbers may be different objects.
 */
export class Numbers {
  static readonly none = Numbers.of([]);
  static readonly all = new Numbers(undefined, () => NumberSet.any());
  static readonly integers = new Numbers(undefined, () => NumberSet.integers());
  /** All numbers within the range of a double. A grammar writes no other number unless it is listed. */
  static readonly doubles = new Numbers(undefined, () => NumberSet.any());

  /** All numbers of the set, if they are listed. */
  readonly listed: readonly JsonNumber[] | undefined;
  #keys: ReadonlySet<number | string> | undefined;
  readonly #makeSet: (budget: ComplexityBudget) => NumberSet;
  #set: NumberSet | undefined;

  private constructor(listed: readonly JsonNumber[] | undefined, makeSet: (budget: ComplexityBudget) => NumberSet) {
    this.listed = listed;
    this.#makeSet = makeSet;
  }

  static of(values: Iterable<JsonNumber>): Numbers {
    const byKey = new Map<number | string, JsonNumber>();
    // If a number has several spellings, the first one is written.
    for (const value of values) if (!byKey.has(keyOfNumber(value))) byKey.set(keyOfNumber(value), value);
    const listed = [...byKey.values()];
    return new Numbers(listed, (budget) => NumberSet.of(listed, budget));
  }

  /** All numbers within the bounds, or only the integers. */
  static within(
    { multipleOf, ...bounds }: NumberBounds & { readonly multipleOf?: JsonNumber | undefined },
    isInteger: boolean,
    budget: ComplexityBudget,
  ): Numbers {
    const isBounded = Object.values(bounds).some((bound) => bound !== undefined);
    if (!isBounded && multipleOf === undefined) return isInteger ? Numbers.integers : Numbers.all;
    const set = NumberSet.within(bounds, isInteger, budget);
    return Numbers.#from(
      multipleOf === undefined ? set : set.intersect(NumberSet.multiplesOf(multipleOf, budget), budget),
    );
  }

  /** Computed once for each format, outside of all budgets: most schemas from OpenAPI use these numbers. */
  static ofFormat(format: NumberFormat): Numbers {
    const known = Numbers.#formats.get(format);
    if (known) return known;
    const budget = new ComplexityBudget();
    const numbers = format.bounds ? Numbers.within(format.bounds, format.isInteger, budget) : Numbers.doubles;
    if (format.bounds) numbers.toSet(budget).written(budget);
    Numbers.#formats.set(format, numbers);
    return numbers;
  }
  static readonly #formats = new Map<NumberFormat, Numbers>();

  /** For the writers of grammars. */
  toSet(budget: ComplexityBudget): NumberSet {
    this.#set ??= this.#makeSet(budget);
    return this.#set;
  }

  intersect(other: Numbers, budget: ComplexityBudget): Numbers {
    if (this === other || other === Numbers.all) return this;
    if (this === Numbers.all) return other;
    if (this.listed) return Numbers.of(this.listed.filter((value) => other.includes(value, budget)));
    if (other.listed) return other.intersect(this, budget);
    return Numbers.#from(this.toSet(budget).intersect(other.toSet(budget), budget));
  }

  union(other: Numbers, budget: ComplexityBudget): Numbers {
    if (this === other || other.isEmpty || this === Numbers.all) return this;
    if (this.isEmpty || other === Numbers.all) return other;
    if (this.listed && other.listed) {
      budget.spend(this.listed.length + other.listed.length);
      return Numbers.of([...this.listed, ...other.listed]);
    }
    return Numbers.#from(this.toSet(budget).union(other.toSet(budget), budget));
  }

  minus(other: Numbers, budget: ComplexityBudget): Numbers {
    if (this === other || other === Numbers.all) return Numbers.none;
    if (this.isEmpty || other.isEmpty) return this;
    if (this.listed) return Numbers.of(this.listed.filter((value) => !other.includes(value, budget)));
    return Numbers.#from(this.toSet(budget).minus(other.toSet(budget), budget));
  }

  get isEmpty(): boolean {
    return this.listed ? this.listed.length === 0 : this.#set !== undefined && this.#set.isEmpty;
  }

  isDisjointFrom(other: Numbers, budget: ComplexityBudget): boolean {
    if (this.isEmpty || other.isEmpty) return true;
    if (this.listed) return !this.listed.some((value) => other.includes(value, budget));
    return this.intersect(other, budget).isEmpty;
  }

  includes(value: JsonNumber, budget: ComplexityBudget): boolean {
    budget.spend(1 + ((this.listed?.length ?? 0) >> 4));
    if (this === Numbers.all) return true;
    if (this === Numbers.integers) return isInteger(value);
    if (this === Numbers.doubles) return Number.isFinite(Number(String(value)));
    if (!this.listed) return this.toSet(budget).includes(value);
    this.#keys ??= new Set(this.listed.map(keyOfNumber));
    return this.#keys.has(keyOfNumber(value));
  }

  /** All numbers of a set that has at most `max`; undefined where it has more. */
  values(max: number, budget: ComplexityBudget): readonly JsonNumber[] | undefined {
    if (this.listed) return this.listed.length <= max ? this.listed : undefined;
    if (this === Numbers.all || this === Numbers.integers || this === Numbers.doubles) return undefined;
    return this.toSet(budget).integers(max, budget);
  }

  shortest(budget: ComplexityBudget): JsonNumber | undefined {
    return this.listed ? this.listed[0] : this.toSet(budget).shortest();
  }

  static #from(set: NumberSet): Numbers {
    if (set.isEmpty) return Numbers.none;
    const made = new Numbers(undefined, () => set);
    made.#set = set;
    return made;
  }
}
