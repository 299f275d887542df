import type { ComplexityBudget } from "../complexity-budget.ts";
import type { ValueSet } from "../values/value-set.ts";

/** Returns all values of a set without arrays and objects, or undefined if there are more than `max`. */
export function finiteValuesOf(set: ValueSet, max: number, budget: ComplexityBudget): unknown[] | undefined {
  if (set.arrays.length + set.objects.length > 0) return undefined;
  const strings = set.strings.isEmpty ? [] : set.strings.texts(max, budget);
  const numbers = set.numbers.isEmpty ? [] : set.numbers.values(max, budget);
  if (strings === undefined || numbers === undefined) return undefined;
  const values = [...(set.hasNull ? [null] : []), ...set.booleans, ...strings, ...numbers];
  return values.length <= max ? values : undefined;
}
