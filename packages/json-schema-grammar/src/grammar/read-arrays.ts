import type { ArraySet, Contains } from "../values/array-set.ts";
import { itemCondition } from "../values/array-set.ts";
import type { Condition } from "../values/condition.ts";
import type { Position, Step } from "./build-automaton.ts";
import { finiteValuesOf } from "./finite-values.ts";
import type { ReadingContext } from "./read-objects.ts";
import { NotRegularError } from "../schema-fault.ts";

/** State shared by the positions of one set of arrays. */
interface Reader {
  readonly context: ReadingContext;
  /** Tells the positions of this set from those of others. */
  readonly number: number;
  readonly set: ArraySet;
  /** All values of the items, if items must differ. */
  readonly distinct: readonly Condition[] | undefined;
}

interface Progress {
  /** The number of written items, up to the largest count that matters. */
  readonly index: number;
  /** The number of items that have satisfied each `contains`, up to the largest count that matters. */
  readonly found: readonly number[];
  /** The numbers of the values written so far, if items must differ. */
  readonly used: readonly number[];
}

/** The position before the first item. @throws {NotRegularError} where a grammar cannot compare or count the items */
export function startOfArray(set: ArraySet, number: number, context: ReadingContext): Position {
  const distinct = set.isUnique && set.max > 1 ? distinctValues(set, context) : undefined;
  const reader: Reader = { context, number, set, distinct };
  return positionAt(reader, { index: 0, found: set.contains.map(() => 0), used: [] });
}

const maxDistinct = 16;

function distinctValues(set: ArraySet, context: ReadingContext): readonly Condition[] {
  const isPlain = set.prefix.length === 0 && set.contains.length === 0;
  const values = isPlain ? finiteValuesOf(context.valuesOf(set.rest), maxDistinct, context.budget) : undefined;
  if (values) return values.map((value) => context.conditions.literal(value, ""));
  throw new NotRegularError(`a grammar can compare items only where they have at most ${maxDistinct} values`);
}

function positionAt(reader: Reader, progress: Progress): Position {
  const { set } = reader;
  const { index, found, used } = progress;
  return {
    key: [reader.number, index, ...found, "of", ...used].join(),
    isEnd: index >= set.min && set.contains.every((contains, place) => (found[place] ?? 0) >= contains.min),
    steps: () => (index === set.max ? [] : steps(reader, progress)),
  };
}

function steps(reader: Reader, progress: Progress): Step[] {
  const { set, distinct, context } = reader;
  const index = nextIndex(set, progress.index);
  if (distinct) {
    return distinct.flatMap((condition, value) => {
      if (progress.used.includes(value)) return [];
      const used = [...progress.used, value].toSorted((a, b) => a - b);
      return [
        { name: undefined, rule: context.ruleOf(condition), to: positionAt(reader, { ...progress, index, used }) },
      ];
    });
  }
  const item = itemCondition(set, progress.index);
  return set.contains
    .reduce<Found[]>(
      (branches, contains, place) =>
        branches.flatMap((branch) => countItem(branch, contains, progress.found[place] ?? 0, progress.index, reader)),
      [{ condition: item, found: [] }],
    )
    .map(({ condition, found }) => ({
      name: undefined,
      rule: context.ruleOf(condition),
      to: positionAt(reader, { ...progress, index, found }),
    }));
}

/** After the prefix and the bounds, all positions are equal. */
function nextIndex({ prefix, min, max, contains }: ArraySet, index: number): number {
  const counted = Math.max(prefix.length, min, max === Infinity ? 0 : max, ...contains.map(({ from }) => from));
  return Math.min(index + 1, counted);
}

interface Found {
  readonly condition: Condition;
  readonly found: readonly number[];
}

/** Returns the step for an item that counts for `contains`, and the step for one that need not. */
function countItem(branch: Found, contains: Contains, count: number, index: number, { context }: Reader): Found[] {
  const unchanged = { ...branch, found: [...branch.found, count] };
  const isDone = contains.max === Infinity && count >= contains.min;
  if (index < contains.from || isDone) return [unchanged];
  const counting = {
    condition: context.conditions.and(branch.condition, contains.condition),
    found: [...branch.found, count + 1],
  };
  if (contains.max === Infinity) return [counting, unchanged];
  const others = context.conditions.negationsOf(contains.condition).map((negation) => ({
    condition: context.conditions.and(branch.condition, negation),
    found: [...branch.found, count],
  }));
  return count < contains.max ? [counting, ...others] : others;
}
