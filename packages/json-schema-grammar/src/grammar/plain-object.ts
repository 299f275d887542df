import type { ObjectSet } from "../values/object-set.ts";
import type { Automaton, State } from "./automaton.ts";
import { maxStates, tooManyStates } from "./build-automaton.ts";
import { boundsOf, withFiniteNames } from "./read-objects.ts";
import type { ReadingContext } from "./read-objects.ts";

/**
 * The automaton of a set of objects of which no member has to be counted, as of most objects: one state before each declared
 * member, and one before the others. Undefined for other sets. `buildAutomaton` gives the same automaton, more slowly.
 */
export function plainObject(set: ObjectSet, context: ReadingContext): Automaton | undefined {
  if (set.witnesses.length > 0) return undefined;
  const { members, free } = withFiniteNames(set, context.budget);
  const { min, max } = boundsOf(set, members, free, context.conditions);
  if (min > 0 || max < Infinity) return undefined;
  if (members.length >= maxStates) throw tooManyStates();
  context.budget.spend(2 * members.length + free.length);
  const lastRequired = members.findLastIndex(([, { isRequired }]) => isRequired);
  const states = members.map(([name, { condition, isRequired }], index): State => ({
    edges: [{ name, rule: context.ruleOf(condition), to: index + 1 }],
    others: isRequired ? undefined : index + 1,
    isEnd: index > lastRequired,
  }));
  const edges = free.map(({ names, condition }) => ({
    name: names,
    rule: context.ruleOf(condition),
    to: members.length,
  }));
  return { states: [...states, { edges, others: undefined, isEnd: true }] };
}
