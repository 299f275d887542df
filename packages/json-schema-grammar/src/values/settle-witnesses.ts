import type { ComplexityBudget } from "../complexity-budget.ts";
import type { Condition, Conditions } from "./condition.ts";
import type { NamedValues, ObjectSet } from "./object-set.ts";

/**
 * The same objects as sets that have fewer witnesses: where a declared member is one, the set requires that member. A
 * witness remains only where an undeclared member may be it.
 */
export function settleWitnesses(set: ObjectSet, conditions: Conditions, budget: ComplexityBudget): ObjectSet[] {
  return set.witnesses.reduce<ObjectSet[]>(
    (sets, witness) => sets.flatMap((one) => settle(one, witness, conditions, budget)),
    [{ ...set, witnesses: [] }],
  );
}

function settle(set: ObjectSet, witness: NamedValues, conditions: Conditions, budget: ComplexityBudget): ObjectSet[] {
  const { names, condition } = witness;
  budget.spend(1 + set.members.size);
  const asMember = [...set.members].flatMap(([name, member]): ObjectSet[] => {
    const both = conditions.and(member.condition, condition);
    if (both === conditions.impossible || !names.includes(name)) return [];
    return [{ ...set, members: new Map([...set.members, [name, { condition: both, isRequired: true }]]) }];
  });
  const isPossible = (free: NamedValues): boolean =>
    both(free, condition, conditions) !== conditions.impossible && !free.names.isDisjointFrom(names, budget);
  const asFree = set.free.some(isPossible) ? [{ ...set, witnesses: [...set.witnesses, witness] }] : [];
  return [...asMember, ...asFree];
}

const both = (free: NamedValues, condition: Condition, conditions: Conditions): Condition =>
  conditions.and(free.condition, condition);
