import type { ComplexityBudget } from "../complexity-budget.ts";
import { edgesOf } from "./automaton.ts";
import type { Automaton, Edge, State } from "./automaton.ts";
import type { Items, Rule } from "./build-rules.ts";

/** Rules whose values can all be completed: none of their arrays and objects continues without an end. */
export interface FiniteRules {
  readonly rules: readonly Rule[];
  /**
   * For each rule, its place in the order in which the rules were found to have a finite value. Undefined if it has none. The
   * shortest value of a rule needs only earlier rules.
   */
  readonly order: readonly (number | undefined)[];
}

/** Removes the members, items and ends that no finite value can have. */
export function keepFinite(rules: readonly Rule[], budget: ComplexityBudget): FiniteRules {
  const order = findFinite(rules, budget);
  const isFinite = (rule: number): boolean => order[rule] !== undefined;
  return {
    rules: rules.map(({ scalars, arrays, objects }) => ({
      scalars,
      arrays: prune(arrays, isFinite, budget),
      objects: prune(objects, isFinite, budget),
    })),
    order,
  };
}

/**
 * The least fixed point over all rules. Inner rules usually have higher numbers. So the first pass goes backwards and settles
 * most rules; later passes change direction each time.
 */
function findFinite(rules: readonly Rule[], budget: ComplexityBudget): (number | undefined)[] {
  const order: (number | undefined)[] = rules.map(() => undefined);
  const isFinite = (rule: number): boolean => order[rule] !== undefined;
  let settled = 0;
  let left = rules.map((rule, number) => ({ rule, number })).toReversed();
  for (let grew = true; grew; left = left.filter(({ number }) => !isFinite(number)).toReversed()) {
    grew = false;
    for (const { rule, number } of left) {
      budget.spend(1);
      if (!hasScalar(rule) && ![rule.arrays, rule.objects].some((items) => canEnd(items, isFinite, budget))) continue;
      order[number] = settled++;
      grew = true;
    }
  }
  return order;
}

const hasScalar = ({ scalars: { hasNull, booleans, strings, numbers } }: Rule): boolean =>
  hasNull || booleans.length > 0 || !strings.isEmpty || !numbers.isEmpty;

function canEnd(items: Items | undefined, isFinite: (rule: number) => boolean, budget: ComplexityBudget): boolean {
  return items === "any" || (items !== undefined && statesWithEnd(items, isFinite, budget).has(0));
}

/** The states from which an end can be reached over values that are finite. */
export function statesWithEnd(
  { states }: Automaton,
  isFinite: (rule: number) => boolean,
  budget: ComplexityBudget,
): Set<number> {
  const reached = new Set<number>();
  const size = states.reduce((sum, { edges }) => sum + edges.length, states.length);
  // States are numbered from the start. So one pass backwards settles most of them.
  for (let grew = true; grew;) {
    grew = false;
    budget.spend(1 + (size >> 2));
    for (let number = states.length - 1; number >= 0; number--) {
      const state = states[number];
      if (state === undefined || reached.has(number)) continue;
      const leadsOn = ({ rule, to }: Edge): boolean => reached.has(to) && isFinite(rule);
      const shares = state.others !== undefined && reached.has(state.others);
      if (!state.isEnd && !shares && !state.edges.some(leadsOn)) continue;
      reached.add(number);
      grew = true;
    }
  }
  return reached;
}

function prune(
  items: Items | undefined,
  isFinite: (rule: number) => boolean,
  budget: ComplexityBudget,
): Items | undefined {
  if (items === undefined || items === "any") return items;
  const kept = statesWithEnd(items, isFinite, budget);
  if (!kept.has(0)) return undefined;
  const states = items.states.map(({ edges, others, isEnd }) => ({
    edges: edges.filter(({ rule, to }) => kept.has(to) && isFinite(rule)),
    others,
    isEnd,
  }));
  // A chain of optional members leads nowhere if none of them can have a value.
  const leadsOn = ({ edges, others }: State): boolean => {
    if (edges.length > 0 || others === undefined) return edges.length > 0;
    return edgesOf({ states }, others).length > 0;
  };
  const isShared = (others: number | undefined): others is number => {
    const state = others === undefined ? undefined : states[others];
    return state !== undefined && leadsOn(state);
  };
  return { states: states.map((state) => ({ ...state, others: isShared(state.others) ? state.others : undefined })) };
}
