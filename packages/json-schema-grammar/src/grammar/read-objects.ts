import type { ComplexityBudget } from "../complexity-budget.ts";
import type { Language } from "../language/language.ts";
import type { Condition, Conditions } from "../values/condition.ts";
import type { Member, NamedValues, ObjectSet } from "../values/object-set.ts";
import type { ValueSet } from "../values/value-set.ts";
import { FreeNames } from "./free-names.ts";
import type { Position, Step } from "./build-automaton.ts";
import { NotRegularError } from "../schema-fault.ts";

/** The parameters of a reader of arrays or objects, except the set. */
export interface ReadingContext {
  readonly conditions: Conditions;
  readonly budget: ComplexityBudget;
  /** The number of the rule for the values that satisfy a condition. */
  readonly ruleOf: (condition: Condition) => number;
  readonly valuesOf: (condition: Condition) => ValueSet;
}

/** State shared by the positions of one set of objects. */
interface Reader {
  readonly context: ReadingContext;
  /** Tells the positions of this set from those of others. */
  readonly number: number;
  readonly members: readonly NamedMember[];
  readonly free: readonly FreeMembers[];
  /** An undeclared member that the set requires. */
  readonly witness: NamedValues | undefined;
  /** The number of the last member that is required; negative where none is. */
  readonly lastRequired: number;
  readonly min: number;
  readonly max: number;
}

/** Undeclared members. */
interface FreeMembers {
  readonly names: FreeNames;
  /** The names, declared ones included. */
  readonly all: Language;
  readonly condition: Condition;
}

type NamedMember = readonly [name: string, member: Member];

interface Progress {
  /** The first member that may come next. */
  readonly next: number;
  /** The number of written members. They are not counted if there is no maximum. */
  readonly written: number;
  /** The number of written members whose names certainly differ, up to the minimum. */
  readonly distinct: number;
  readonly hasFree: boolean;
  readonly needsWitness: boolean;
  /** True if no member may follow. */
  readonly isClosed: boolean;
}

/**
 * The position before the first member. Declared members come in their order, undeclared ones after them.
 * @throws {NotRegularError} where a grammar cannot count the undeclared members
 */
export function startOfObject(set: ObjectSet, number: number, context: ReadingContext): Position {
  const { members, free } = withFiniteNames(set, context.budget);
  const [witness, another] = set.witnesses;
  const { required, min, max } = boundsOf(set, members, free, context.conditions);
  if (another || (free.length > 0 && min > required + 1))
    throw new NotRegularError("a grammar cannot tell whether the names of undeclared members differ");
  const lastRequired = members.findLastIndex(([, { isRequired }]) => isRequired);
  const reader: Reader = { context, number, members, free, witness, lastRequired, min, max };
  const needsWitness = witness !== undefined;
  return positionAt(reader, { next: 0, written: 0, distinct: 0, hasFree: false, needsWitness, isClosed: false });
}

/** Returns the number of required members, and the bounds that must be counted. They are 0 and infinity if there are none. */
export function boundsOf(
  set: ObjectSet,
  members: readonly NamedMember[],
  free: readonly FreeMembers[],
  { impossible }: Conditions,
): { required: number; min: number; max: number } {
  const required = members.filter(([, { isRequired }]) => isRequired).length;
  const possible = members.filter(([, { condition }]) => condition !== impossible).length;
  return {
    required,
    min: required >= set.min ? 0 : set.min,
    max: free.length === 0 && possible <= set.max ? Infinity : set.max,
  };
}

const maxFiniteNames = 64;

/** Declares the undeclared members whose names can be listed. So none of them is written twice. */
export function withFiniteNames(set: ObjectSet, budget: ComplexityBudget): Pick<Reader, "members" | "free"> {
  const members: NamedMember[] = [...set.members];
  const free: FreeMembers[] = [];
  for (const { names, condition } of set.free) {
    const others = FreeNames.of(names, set.members.keys(), budget);
    const listed = others.list(maxFiniteNames, budget);
    if (listed === undefined) free.push({ names: others, all: names, condition });
    else members.push(...listed.map((name): NamedMember => [name, { condition, isRequired: false }]));
  }
  return { members, free };
}

function positionAt(reader: Reader, progress: Progress): Position {
  const { members, lastRequired, min, max } = reader;
  const { next, written, distinct, hasFree, needsWitness, isClosed } = progress;
  const isFull = isClosed || written === max;
  const member = isFull ? undefined : members[next];
  return {
    key: [reader.number, next, written, distinct, Number(hasFree), Number(needsWitness), Number(isClosed)].join(),
    isEnd: next > lastRequired && distinct >= min && !needsWitness,
    steps: () => {
      if (isFull) return [];
      return member ? [memberStep(reader, progress, member)] : freeSteps(reader, progress);
    },
    others: member && !member[1].isRequired ? () => positionAt(reader, { ...progress, next: next + 1 }) : undefined,
  };
}

function memberStep(reader: Reader, progress: Progress, [name, { condition }]: NamedMember): Step {
  const to = positionAt(reader, {
    ...progress,
    next: progress.next + 1,
    written: countWritten(reader, progress),
    distinct: Math.min(progress.distinct + 1, reader.min),
  });
  return { name, rule: reader.context.ruleOf(condition), to };
}

function freeSteps(reader: Reader, progress: Progress): Step[] {
  const { context, min, witness } = reader;
  const after: Progress = {
    ...progress,
    written: countWritten(reader, progress),
    // Two undeclared members may have the same name and be one member. So only the first one counts.
    distinct: progress.hasFree ? progress.distinct : Math.min(progress.distinct + 1, min),
    hasFree: min > 0,
  };
  return reader.free.flatMap(({ names, all, condition }) => {
    const step = { name: names, rule: context.ruleOf(condition), to: positionAt(reader, after) };
    if (!witness || !progress.needsWitness) return [step];
    const both = context.conditions.and(condition, witness.condition);
    const shared = all.intersect(witness.names, context.budget);
    const declared = reader.members.map(([name]) => name);
    const possible = FreeNames.of(shared, declared, context.budget);
    // A later member of the same name would replace the witness, so none may follow.
    const last = positionAt(reader, { ...after, needsWitness: false, isClosed: true });
    return shared.isEmpty ? [step] : [step, { name: possible, rule: context.ruleOf(both), to: last }];
  });
}

const countWritten = ({ max }: Reader, { written }: Progress): number => (max === Infinity ? 0 : written + 1);
