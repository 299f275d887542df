import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "../language/language.ts";
import { anyArray, complementOfArrays, intersectArrays } from "./array-set.ts";
import type { ArraySet } from "./array-set.ts";
import type { Condition, Conditions } from "./condition.ts";
import { Numbers } from "./numbers.ts";
import { anyObject, complementOfObjects, conditionOf, intersectObjects } from "./object-set.ts";
import type { ObjectSet } from "./object-set.ts";
import { settleWitnesses } from "./settle-witnesses.ts";
import type { ValueSet } from "./value-set.ts";

/** The maximum number of alternatives for the arrays, or for the objects, of one set. */
const maxAlternatives = 256;

/** Union, intersection and difference of sets of JSON values. */
export class ValueAlgebra {
  readonly nothing: ValueSet;
  readonly everything: ValueSet;
  readonly #conditions: Conditions;
  readonly #budget: ComplexityBudget;
  readonly #isEmptyCondition: (condition: Condition) => boolean;
  readonly #anyArray: ArraySet;
  readonly #anyObject: ObjectSet;

  /** @param isEmptyCondition true where nothing is known to satisfy the condition */
  constructor(conditions: Conditions, budget: ComplexityBudget, isEmptyCondition: (condition: Condition) => boolean) {
    this.#conditions = conditions;
    this.#budget = budget;
    this.#isEmptyCondition = isEmptyCondition;
    this.#anyArray = anyArray(conditions);
    this.#anyObject = anyObject(conditions);
    this.nothing = {
      hasNull: false,
      booleans: [],
      strings: Language.none,
      numbers: Numbers.none,
      arrays: [],
      objects: [],
    };
    this.everything = {
      hasNull: true,
      booleans: [true, false],
      strings: Language.any,
      numbers: Numbers.all,
      arrays: [this.#anyArray],
      objects: [this.#anyObject],
    };
  }

  union(one: ValueSet, other: ValueSet): ValueSet {
    if (one === this.nothing) return other;
    if (other === this.nothing) return one;
    return {
      hasNull: one.hasNull || other.hasNull,
      booleans: [true, false].filter((value) => one.booleans.includes(value) || other.booleans.includes(value)),
      strings: this.#uniteStrings(one.strings, other.strings),
      numbers: one.numbers.union(other.numbers, this.#budget),
      arrays: this.#withoutRepeats(one.arrays, other.arrays, this.#anyArray),
      objects: this.#withoutRepeats(one.objects, other.objects, this.#anyObject),
    };
  }

  intersect(one: ValueSet, other: ValueSet): ValueSet {
    if (one === this.everything || one === other) return other;
    if (other === this.everything) return one;
    return {
      hasNull: one.hasNull && other.hasNull,
      booleans: one.booleans.filter((value) => other.booleans.includes(value)),
      strings: this.#intersectStrings(one.strings, other.strings),
      numbers: one.numbers.intersect(other.numbers, this.#budget),
      arrays: this.#cross(one.arrays, other.arrays, (a, b) => this.#intersectArrays(a, b)),
      objects: this.#cross(one.objects, other.objects, (a, b) => this.#intersectObjects(a, b)),
    };
  }

  /** The values of `one` that are not in `other`. @throws {NotRegularError} where the difference is not regular */
  subtract(one: ValueSet, other: ValueSet): ValueSet {
    return {
      hasNull: one.hasNull && !other.hasNull,
      booleans: one.booleans.filter((value) => !other.booleans.includes(value)),
      strings: this.#subtractStrings(one.strings, other.strings),
      numbers: one.numbers.minus(other.numbers, this.#budget),
      arrays: this.#subtract(
        one.arrays,
        other.arrays,
        (a, b) => this.#intersectArrays(a, b),
        (set) => complementOfArrays(set, this.#conditions),
      ),
      objects: this.#subtract(
        one.objects,
        other.objects,
        (a, b) => this.#intersectObjects(a, b),
        (set) => complementOfObjects(set, this.#conditions, this.#budget),
      ),
    };
  }

  isEmpty(set: ValueSet): boolean {
    const { hasNull, booleans, strings, numbers, arrays, objects } = set;
    return !hasNull && booleans.length + arrays.length + objects.length === 0 && strings.isEmpty && numbers.isEmpty;
  }

  // Most sets of strings are empty or hold every string, and need no automaton.

  #uniteStrings(one: Language, other: Language): Language {
    if (one === other || other === Language.none || one === Language.any) return one;
    return one === Language.none || other === Language.any ? other : one.union(other, this.#budget);
  }

  #intersectStrings(one: Language, other: Language): Language {
    if (one === other || other === Language.any || one === Language.none) return one;
    return one === Language.any || other === Language.none ? other : one.intersect(other, this.#budget);
  }

  #subtractStrings(one: Language, other: Language): Language {
    return one === Language.none || other === Language.none ? one : one.minus(other, this.#budget);
  }

  #intersectArrays(one: ArraySet, other: ArraySet): ArraySet[] {
    if (one === this.#anyArray || one === other) return [other];
    if (other === this.#anyArray) return [one];
    return this.possibleArrays(intersectArrays(one, other, this.#conditions));
  }

  #intersectObjects(one: ObjectSet, other: ObjectSet): ObjectSet[] {
    if (one === this.#anyObject || one === other) return [other];
    if (other === this.#anyObject) return [one];
    if (this.#haveNoCommonObject(one, other)) return [];
    return this.possibleObjects(intersectObjects(one, other, this.#conditions, this.#budget));
  }

  /**
   * Checks if a member that one of the sets requires is known to be unsatisfiable. Most alternatives differ in such a member.
   */
  #haveNoCommonObject(one: ObjectSet, other: ObjectSet): boolean {
    const isImpossible = (a: ObjectSet, b: ObjectSet): boolean => {
      for (const [name, { condition, isRequired }] of a.members) {
        if (!isRequired) continue;
        const both = this.#conditions.and(condition, conditionOf(b, name, this.#conditions));
        if (both !== condition && this.#isEmptyCondition(both)) return true;
      }
      return false;
    };
    this.#budget.spend(1 + ((one.members.size + other.members.size) >> 1));
    return isImpossible(one, other) || isImpossible(other, one);
  }

  /** The set as a list: empty where it is known to hold nothing. */
  possibleArrays(set: ArraySet): ArraySet[] {
    const needed = set.prefix.slice(0, set.min);
    if (set.min > set.prefix.length) needed.push(set.rest);
    const isImpossible = set.min > set.max || needed.some(this.#isEmptyCondition);
    return isImpossible ? [] : [set];
  }

  possibleObjects(set: ObjectSet): ObjectSet[] {
    const required = [...set.members.values()].filter(({ isRequired }) => isRequired);
    if (required.length > set.max || set.min > set.max) return [];
    if (required.some(({ condition }) => this.#isEmptyCondition(condition))) return [];
    return set.witnesses.length === 0 ? [set] : settleWitnesses(set, this.#conditions, this.#budget);
  }

  #subtract<T>(
    some: readonly T[],
    others: readonly T[],
    intersect: (one: T, other: T) => T[],
    complement: (set: T) => readonly T[],
  ): readonly T[] {
    return others.reduce<readonly T[]>((left, other) => {
      const outside = (one: T): T[] => complement(other).flatMap((set) => intersect(one, set));
      this.#budget.spend(left.length);
      const kept = left.flatMap((one) => (intersect(one, other).length === 0 ? [one] : outside(one)));
      return this.#bounded(kept);
    }, some);
  }

  #cross<T>(some: readonly T[], others: readonly T[], intersect: (one: T, other: T) => T[]): readonly T[] {
    this.#budget.spend(1 + 6 * some.length * others.length);
    return this.#bounded(some.flatMap((one) => others.flatMap((other) => intersect(one, other))));
  }

  #withoutRepeats<T>(some: readonly T[], others: readonly T[], all: T): readonly T[] {
    if (some.includes(all) || others.includes(all)) return [all];
    return this.#bounded(some === others ? some : [...some, ...others]);
  }

  #bounded<T>(alternatives: readonly T[]): readonly T[] {
    if (alternatives.length > maxAlternatives)
      throw new SchemaTooComplexError(
        `the schema multiplies into more than ${maxAlternatives} alternatives of one value`,
      );
    return alternatives;
  }
}
