import type { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "../language/language.ts";
import type { Condition, Conditions } from "./condition.ts";
import { NotRegularError } from "../schema-fault.ts";

/** A set of objects. */
export interface ObjectSet {
  /** The named members, in the order in which they are written. */
  readonly members: ReadonlyMap<string, Member>;
  /** The conditions on all other members, by name. No two entries share a name; a name in no entry is forbidden. */
  readonly free: readonly NamedValues[];
  readonly min: number;
  readonly max: number;
  /** The object has at least one member of each entry. */
  readonly witnesses: readonly NamedValues[];
}

export interface Member {
  readonly condition: Condition;
  readonly isRequired: boolean;
}

/** Members of any of the names, with values that satisfy the condition. */
export interface NamedValues {
  readonly names: Language;
  readonly condition: Condition;
}

export const anyObject = (conditions: Conditions): ObjectSet => ({
  members: new Map(),
  free: [{ names: Language.any, condition: conditions.anything }],
  min: 0,
  max: Infinity,
  witnesses: [],
});

/** The condition on the member of that name, if the object has it. */
export function conditionOf(set: ObjectSet, name: string, conditions: Conditions): Condition {
  const free = (): NamedValues | undefined => set.free.find(({ names }) => names.includes(name));
  return (set.members.get(name) ?? free())?.condition ?? conditions.impossible;
}

export function intersectObjects(
  one: ObjectSet,
  other: ObjectSet,
  conditions: Conditions,
  budget: ComplexityBudget,
): ObjectSet {
  const names = new Set([...one.members.keys(), ...other.members.keys()]);
  budget.spend(1 + names.size);
  const members = Array.from(names, (name): [string, Member] => [
    name,
    {
      condition: conditions.and(conditionOf(one, name, conditions), conditionOf(other, name, conditions)),
      isRequired: one.members.get(name)?.isRequired === true || other.members.get(name)?.isRequired === true,
    },
  ]);
  return {
    members: new Map(members),
    free: intersectFree(one.free, other.free, conditions, budget),
    min: Math.max(one.min, other.min),
    max: Math.min(one.max, other.max),
    witnesses: [...one.witnesses, ...other.witnesses],
  };
}

function intersectFree(
  some: readonly NamedValues[],
  others: readonly NamedValues[],
  conditions: Conditions,
  budget: ComplexityBudget,
): NamedValues[] {
  return some.flatMap((one) =>
    others.flatMap((other) => {
      const names = one.names === other.names ? one.names : one.names.intersect(other.names, budget);
      const condition = conditions.and(one.condition, other.condition);
      return names.isEmpty || condition === conditions.impossible ? [] : [{ names, condition }];
    }),
  );
}

/** Sets that together hold every object that is not in this one. */
export function complementOfObjects(set: ObjectSet, conditions: Conditions, budget: ComplexityBudget): ObjectSet[] {
  const all = anyObject(conditions);
  const withMember = (name: string, condition: Condition, isRequired: boolean): ObjectSet => ({
    ...all,
    members: new Map([[name, { condition, isRequired }]]),
  });
  const declared = Language.of(set.members.keys(), budget);
  return [
    ...Array.from(set.members).flatMap(([name, { condition, isRequired }]) => {
      const negations = conditions.negationsOf(condition);
      if (isRequired && negations.length === 0) return [withMember(name, conditions.impossible, false)];
      // Where the member is required, an object without it is outside as well.
      return negations.map((negation) => withMember(name, negation, !isRequired));
    }),
    ...freeMembersOutside(set, declared, conditions, budget).map((witness) => ({ ...all, witnesses: [witness] })),
    ...(set.min > 0 ? [{ ...all, max: set.min - 1 }] : []),
    ...(set.max < Infinity ? [{ ...all, min: set.max + 1 }] : []),
    ...set.witnesses.map(({ names, condition }) => ({
      ...all,
      free: withoutWitness(names, condition, conditions, budget),
    })),
  ];
}

/** The undeclared members that keep an object out of the set. */
function freeMembersOutside(
  { free }: ObjectSet,
  declared: Language,
  conditions: Conditions,
  budget: ComplexityBudget,
): NamedValues[] {
  const allowed = free.reduce((names, one) => names.union(one.names, budget), declared);
  const entries = [
    { names: allowed.complement(budget), condition: conditions.anything },
    ...free.flatMap(({ names, condition }) =>
      conditions
        .negationsOf(condition)
        .map((negation) => ({ names: names.minus(declared, budget), condition: negation })),
    ),
  ];
  return entries.filter(({ names }) => !names.isEmpty);
}

/** @throws {NotRegularError} where several conditions would be needed for the other members */
function withoutWitness(
  names: Language,
  condition: Condition,
  conditions: Conditions,
  budget: ComplexityBudget,
): NamedValues[] {
  const negations = conditions.negationsOf(condition);
  const [negation = conditions.impossible] = negations;
  if (negations.length > 1) throw new NotRegularError("a witness with several conditions has no simple complement");
  const others = { names: names.complement(budget), condition: conditions.anything };
  return [...(negation === conditions.impossible ? [] : [{ names, condition: negation }]), others];
}
