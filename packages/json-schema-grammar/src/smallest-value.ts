import type { JsonNumber } from "./json/exact-number.ts";
import { objectOf } from "./json/parse-json.ts";
import { ComplexityBudget, SchemaTooComplexError } from "./complexity-budget.ts";
import { edgesOf } from "./grammar/automaton.ts";
import type { Automaton, Edge } from "./grammar/automaton.ts";
import type { Rule } from "./grammar/build-rules.ts";
import { FreeNames } from "./grammar/free-names.ts";
import type { FiniteRules } from "./grammar/keep-finite.ts";
import { leaveOut, toRules } from "./to-rules.ts";
import type { WantedValue } from "./to-rules.ts";
import type { Numbers } from "./values/numbers.ts";

/** Optional members are written on the first three levels only. */
const optionalLevels = 3;
const maxValues = 10_000;
const maxLevels = 200;

/**
 * Returns a small JSON value that satisfies a schema. Keywords that cannot be enforced are left out, at most 32. Numbers may
 * be an `ExactNumber`, which `JSON.stringify` writes.
 * @param isObject the value must also be an object
 * @throws {UnenforceableKeywordError} where too many keywords would be left out
 * @throws {MalformedSchemaError} {SchemaTooComplexError} {UnsatisfiableSchemaError}
 */
export function smallestValue(schema: boolean | object, { isObject = false }: Partial<WantedValue> = {}): unknown {
  const wanted: WantedValue = { schema, isObject };
  const budget = new ComplexityBudget();
  return leaveOut((omitted) => new ValueWriter(toRules(wanted, budget, omitted), budget).valueOf(0, 0)).result;
}

class ValueWriter {
  readonly #rules: readonly Rule[];
  readonly #order: readonly (number | undefined)[];
  readonly #budget: ComplexityBudget;
  #values = 0;

  constructor({ rules, order }: FiniteRules, budget: ComplexityBudget) {
    this.#rules = rules;
    this.#order = order;
    this.#budget = budget;
  }

  valueOf(number: number, level: number): unknown {
    this.#values += 1;
    if (this.#values > maxValues || level > maxLevels)
      throw new SchemaTooComplexError("the smallest value is too large");
    // This is called only for rules that have a value.
    const { scalars, arrays, objects } = this.#rules[number] as Rule;
    const { hasNull, booleans, strings, numbers } = scalars;
    if (arrays === "any" && objects === "any" && hasNull) return null;
    if (!strings.isEmpty) return strings.includes("text") ? "text" : strings.shortest();
    if (!numbers.isEmpty) return this.#number(numbers);
    if (booleans.length > 0) return booleans[0];
    return this.#structure(number, { arrays, objects }, level) ?? null;
  }

  #number(numbers: Numbers): JsonNumber | undefined {
    return [1.5, 1].find((value) => numbers.includes(value, this.#budget)) ?? numbers.shortest(this.#budget);
  }

  #structure(number: number, { arrays, objects }: Pick<Rule, "arrays" | "objects">, level: number): unknown {
    const isEarlier = (rule: number): boolean => (this.#order[rule] ?? Infinity) < (this.#order[number] ?? Infinity);
    if (objects === "any") return {};
    if (arrays === "any") return [];
    const members = objects && this.#walk(objects, isEarlier, level);
    if (members) return objectOf(members.map(({ name, value }) => [name, value] as const));
    return arrays && this.#walk(arrays, isEarlier, level)?.map(({ value }) => value);
  }

  /** Returns the members or items of a short value. Undefined if all values need rules that are found later. */
  #walk(
    automaton: Automaton,
    isEarlier: (rule: number) => boolean,
    level: number,
  ): { name: string; value: unknown }[] | undefined {
    const rest = shortestRest(automaton, isEarlier);
    if (rest[0] === undefined) return undefined;
    const written: { name: string; value: unknown }[] = [];
    for (let state = 0; ;) {
      const edge = this.#nextOf(automaton, state, rest, isEarlier, level);
      if (!edge) return written;
      const name = edge.name instanceof FreeNames ? edge.name.example(this.#budget) : edge.name;
      written.push({ name: name ?? "", value: this.valueOf(edge.rule, level + 1) });
      state = edge.to;
    }
  }

  /** Chooses a declared member on the first levels, even if it is optional. Otherwise chooses the edge to the nearest end. */
  #nextOf(
    automaton: Automaton,
    state: number,
    rest: readonly (number | undefined)[],
    isEarlier: (rule: number) => boolean,
    level: number,
  ): Edge | undefined {
    const edges = edgesOf(automaton, state).filter(({ to }) => rest[to] !== undefined);
    const declared = edges.find(({ name }) => typeof name === "string");
    if (level < optionalLevels && declared) return declared;
    if (automaton.states[state]?.isEnd === true) return undefined;
    const distance = ({ to }: Edge): number => rest[to] ?? Infinity;
    return edges.filter(({ rule }) => isEarlier(rule)).toSorted((a, b) => distance(a) - distance(b))[0];
  }
}

/**
 * Returns for each state the smallest number of members or items of usable rules until an end. Undefined if no end can be
 * reached.
 */
function shortestRest(automaton: Automaton, isUsable: (rule: number) => boolean): (number | undefined)[] {
  const rest = automaton.states.map(({ isEnd }) => (isEnd ? 0 : undefined)) as (number | undefined)[];
  for (let grew = true; grew;) {
    grew = false;
    for (let state = rest.length - 1; state >= 0; state--) {
      const usable = edgesOf(automaton, state).filter(({ rule, to }) => isUsable(rule) && rest[to] !== undefined);
      const nearest = Math.min(...usable.map(({ to }) => (rest[to] ?? Infinity) + 1));
      if (nearest >= (rest[state] ?? Infinity)) continue;
      rest[state] = nearest;
      grew = true;
    }
  }
  return rest;
}
