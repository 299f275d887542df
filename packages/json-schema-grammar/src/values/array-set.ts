import type { Condition, Conditions } from "./condition.ts";
import { NotRegularError } from "../schema-fault.ts";

/** A set of arrays. */
export interface ArraySet {
  /** The conditions of the first items. */
  readonly prefix: readonly Condition[];
  /** The condition of every item after those. */
  readonly rest: Condition;
  readonly min: number;
  readonly max: number;
  readonly contains: readonly Contains[];
  /** True if all items must differ. */
  readonly isUnique: boolean;
}

/** From the item `from` on, `min` to `max` items satisfy the condition. */
export interface Contains {
  readonly from: number;
  readonly condition: Condition;
  readonly min: number;
  readonly max: number;
}

export const anyArray = (conditions: Conditions): ArraySet => ({
  prefix: [],
  rest: conditions.anything,
  min: 0,
  max: Infinity,
  contains: [],
  isUnique: false,
});

export const itemCondition = ({ prefix, rest }: ArraySet, index: number): Condition => prefix[index] ?? rest;

export function intersectArrays(one: ArraySet, other: ArraySet, conditions: Conditions): ArraySet {
  const length = Math.max(one.prefix.length, other.prefix.length);
  return trimmed(
    {
      prefix: Array.from({ length }, (_, index) =>
        conditions.and(itemCondition(one, index), itemCondition(other, index)),
      ),
      rest: conditions.and(one.rest, other.rest),
      min: Math.max(one.min, other.min),
      max: Math.min(one.max, other.max),
      contains: [...one.contains, ...other.contains],
      isUnique: one.isUnique || other.isUnique,
    },
    conditions,
  );
}

/** Returns the same set in a simpler form: an impossible item ends the array before it. */
export function trimmed(set: ArraySet, conditions: Conditions): ArraySet {
  const impossible = [...set.prefix, set.rest].indexOf(conditions.impossible);
  const max = impossible < 0 ? set.max : Math.min(set.max, impossible);
  return { ...set, max, prefix: set.prefix.slice(0, max) };
}

/**
 * Returns sets that together contain every array that is not in this one.
 * @throws {NotRegularError} where the items of the set must differ from each other
 */
export function complementOfArrays(set: ArraySet, conditions: Conditions): ArraySet[] {
  if (set.isUnique) throw new NotRegularError("that items must repeat cannot be written as a grammar");
  const all = anyArray(conditions);
  return [
    ...(set.min > 0 ? [{ ...all, max: set.min - 1 }] : []),
    ...(set.max < Infinity ? [{ ...all, min: set.max + 1 }] : []),
    ...set.prefix.flatMap((condition, index) =>
      conditions.negationsOf(condition).map((negation) => ({
        ...all,
        prefix: [...Array.from({ length: index }, () => conditions.anything), negation],
        min: index + 1,
      })),
    ),
    ...(set.max > set.prefix.length ? conditions.negationsOf(set.rest) : []).map((condition) => ({
      ...all,
      contains: [{ from: set.prefix.length, condition, min: 1, max: Infinity }],
    })),
    ...set.contains.flatMap((contains) => [
      ...(contains.min > 0 ? [{ ...all, contains: [{ ...contains, min: 0, max: contains.min - 1 }] }] : []),
      ...(contains.max < Infinity
        ? [{ ...all, contains: [{ ...contains, min: contains.max + 1, max: Infinity }] }]
        : []),
    ]),
  ];
}
