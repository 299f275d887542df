import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { joinPath } from "../dialect/raw-schema.ts";
import type { SchemaNode } from "../dialect/schema-node.ts";
import { NotRegularError, UnenforceableKeywordError } from "../schema-fault.ts";
import type { Condition } from "../values/condition.ts";
import type { ObjectSet } from "../values/object-set.ts";
import type { SchemaValues } from "../values/schema-values.ts";
import type { ValueSet } from "../values/value-set.ts";
import type { Automaton, State } from "./automaton.ts";
import { buildAutomaton, maxStates, tooManyStates } from "./build-automaton.ts";
import { startOfArray } from "./read-arrays.ts";
import { boundsOf, startOfObject, withFiniteNames } from "./read-objects.ts";
import type { ReadingContext } from "./read-objects.ts";

/** The values of one rule of the grammar. */
export interface Rule {
  /** Its strings, numbers, booleans and null. */
  readonly scalars: Pick<ValueSet, "hasNull" | "booleans" | "strings" | "numbers">;
  readonly arrays: Items | undefined;
  readonly objects: Items | undefined;
}

/** `any`: every array, or every object. */
export type Items = Automaton | "any";

const maxRules = 10_000;

/** Builds the rules for the values that satisfy the condition. Rule 0 is the whole value. */
export function buildRules(root: Condition, values: SchemaValues, budget: ComplexityBudget): Rule[] {
  const numbers = new Map<string, number>();
  const conditions: Condition[] = [];
  const ruleOf = (condition: Condition): number => {
    const known = numbers.get(condition.key);
    if (known !== undefined) return known;
    if (conditions.length === maxRules)
      throw new SchemaTooComplexError(`the schema needs more than ${maxRules} grammar rules`);
    numbers.set(condition.key, conditions.length);
    return conditions.push(condition) - 1;
  };
  const context: ReadingContext = {
    conditions: values.conditions,
    budget,
    ruleOf,
    valuesOf: (condition) => values.valuesOf(condition),
  };
  ruleOf(root);
  const rules: Rule[] = [];
  // The list grows during the loop, because values inside arrays and objects get their own rules.
  for (const condition of conditions) rules.push(buildRule(condition, values, context));
  return rules;
}

function buildRule(condition: Condition, values: SchemaValues, context: ReadingContext): Rule {
  const set = values.valuesOf(condition);
  const { everything } = values.algebra;
  return {
    scalars: set,
    arrays:
      set.arrays === everything.arrays || set.arrays[0] === everything.arrays[0]
        ? "any"
        : locating(condition, ["uniqueItems", "contains"], () => read(set.arrays, startOfArray, context)),
    objects:
      set.objects === everything.objects || set.objects[0] === everything.objects[0]
        ? "any"
        : locating(condition, ["minProperties", "not", "oneOf"], () => readObjects(set.objects, context)),
  };
}

function read<T>(
  sets: readonly T[],
  startOf: (set: T, number: number, context: ReadingContext) => ReturnType<typeof startOfArray>,
  context: ReadingContext,
): Automaton | undefined {
  if (sets.length === 0) return undefined;
  return buildAutomaton(
    sets.map((set, number) => startOf(set, number, context)),
    context.budget,
  );
}

function readObjects(sets: readonly ObjectSet[], context: ReadingContext): Automaton | undefined {
  const [only] = sets;
  const plain = sets.length === 1 && only ? plainObject(only, context) : undefined;
  return plain ?? read(sets, startOfObject, context);
}

/**
 * The automaton of a set of objects whose members need not be counted, which is most objects: one state before each declared
 * member, and one before the others. Undefined for other sets. `buildAutomaton` gives the same automaton, more slowly.
 */
function plainObject(set: ObjectSet, context: ReadingContext): Automaton | undefined {
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

/** If a grammar cannot count or compare something, reports it at the keyword that demands it. */
function locating<T>(condition: Condition, keywords: readonly string[], build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof NotRegularError)) throw error;
    const { path, keyword } = findKeyword(condition, keywords);
    throw new UnenforceableKeywordError({
      path,
      keyword,
      reason: `"${keyword}" cannot be enforced here: ${error.message}`,
    });
  }
}

/** Returns the path of the first of the keywords among the schemas of a condition, or else the path of the condition. */
function findKeyword(
  { parts = [] }: Condition,
  keywords: readonly string[],
): { readonly path: string; readonly keyword: string } {
  const seen = new Set(parts.map((part) => part.node));
  // The set grows during the loop.
  for (const node of seen) {
    const words = node.keywords ?? {};
    const keyword = keywords.find((word) => word in words);
    if (keyword !== undefined) return { path: joinPath(node.path, keyword), keyword };
    for (const inner of sameValue(node)) seen.add(inner);
  }
  return { path: parts[0]?.node.path ?? "", keyword: keywords[0] ?? "" };
}

/** The schemas that apply to the same value as this one. */
function sameValue({ keywords = {} }: SchemaNode): SchemaNode[] {
  const { $ref, allOf = [], anyOf = [], oneOf = [], dependentSchemas } = keywords;
  const single = [$ref, keywords.not, keywords.if, keywords.then, keywords.else];
  return [
    ...single.filter((node) => node !== undefined),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...(dependentSchemas?.values() ?? []),
  ];
}
