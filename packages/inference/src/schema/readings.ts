import { planObject } from "./object-plan.ts";
import type { ObjectPlan } from "./object-plan.ts";
import { writeLiteralTree } from "./literal-tree.ts";
import type { RuleBook } from "./rule-book.ts";
import { kindOf, kinds } from "./shape.ts";
import type { Kind, Shape } from "./shape.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** The most readings of an unfinished text that llama.cpp may have to follow at once: it tries every token with each. */
const mostReadings = 500;

/** How many readings there can be while a value that has begun as one of these is written. */
type Readings = Readonly<Record<Kind, number>>;

/** What of a rule's readings does not depend on other rules, and what the rest depends on. */
interface RulePlan {
  readonly rule: number;
  readonly plain: Readings;
  /** The rules of the items of each array. */
  readonly items: readonly number[];
  readonly objects: readonly ObjectPlan[];
}

/**
 * Refuses a schema whose alternatives cannot be told apart early enough. llama.cpp follows every reading of the text so
 * far; where two alternatives begin alike and contain themselves, the readings double with every level.
 * @throws {SchemaTooComplex}
 */
export function assertFewReadings({ rules }: RuleBook, budget: ComplexityBudget): void {
  const readings: Readings[] = rules.map(() => nothing);
  const plans = rules.map((shapes, rule) => planRule(rule, shapes, rules, budget));
  let order = plans.toReversed();
  for (let grew = true; grew; order = order.toReversed()) {
    grew = false;
    for (const plan of order) {
      const counted = count(plan, readings, budget);
      if (kinds.some((kind) => counted[kind] > mostReadings)) throw tooAlike();
      grew ||= kinds.some((kind) => counted[kind] !== readings[plan.rule]?.[kind]);
      readings[plan.rule] = counted;
    }
  }
}

const nothing: Readings = { object: 0, array: 0, string: 0, number: 0, boolean: 0, null: 0 };

const tooAlike = (): SchemaTooComplex =>
  new SchemaTooComplex(
    `alternatives of "anyOf" that contain themselves begin alike, or more than ${mostReadings} optional members follow each ` +
      `other: give every alternative a required member with a "const" that tells it apart`,
  );

function planRule(
  rule: number,
  shapes: readonly Shape[],
  rules: RuleBook["rules"],
  budget: ComplexityBudget,
): RulePlan {
  const literals = Map.groupBy(
    shapes.flatMap((shape) => (shape.kind === "literal" ? [shape.value] : [])),
    kindOf,
  );
  const plain = (kind: Kind): number => {
    const texts = literals.get(kind)?.map((value) => JSON.stringify(value));
    const others = shapes.filter((shape) => shape.kind === "any" || (shape.kind === "scalar" && shape.type === kind));
    return others.length + (texts ? writeLiteralTree(texts).width : 0);
  };
  const integers = shapes.filter((shape) => shape.kind === "scalar" && shape.type === "integer").length;
  return {
    rule,
    plain: {
      object: plain("object"),
      array: plain("array"),
      string: plain("string"),
      number: plain("number") + integers,
      boolean: plain("boolean"),
      null: plain("null"),
    },
    items: shapes.flatMap((shape) => (shape.kind === "array" ? [shape.item] : [])),
    objects: shapes.flatMap((shape) => (shape.kind === "object" ? [planObject(shape, rules, budget)] : [])),
  };
}

function count({ plain, items, objects }: RulePlan, readings: readonly Readings[], budget: ComplexityBudget): Readings {
  budget.spend(1 + items.length);
  const inside = (kind: Kind): number => items.reduce((sum, rule) => sum + (readings[rule]?.[kind] ?? 0), 0);
  return {
    ...plain,
    array: plain.array + Math.max(items.length, ...kinds.map(inside)),
    object: plain.object + countObjects(objects, readings, budget),
  };
}

/** Objects whose first member has the same name and the same kind of value stay alike, for all that we know, to the end. */
function countObjects(objects: readonly ObjectPlan[], readings: readonly Readings[], budget: ComplexityBudget): number {
  const alike = new Map<string, number>();
  let always = 0;
  for (const plan of objects) {
    const { beginnings, inner } = plan;
    budget.spend(1 + (beginnings?.length ?? 0) + inner.length);
    const own = inner.reduce((most, rule) => Math.max(most, largest(readings[rule] ?? nothing)), plan.longestRun);
    if (!beginnings) always += own;
    for (const { text } of beginnings ?? []) alike.set(text, (alike.get(text) ?? 0) + own);
  }
  const widened = objects.flatMap(({ beginnings = [] }) =>
    beginnings.map(({ text, wider }) => (alike.get(text) ?? 0) + (wider === undefined ? 0 : (alike.get(wider) ?? 0))),
  );
  const atStart = objects.reduce((sum, { firstNames }) => sum + firstNames, 0);
  return Math.max(atStart, always + widened.reduce((most, one) => Math.max(most, one), 0));
}

const largest = (readings: Readings): number => Math.max(...kinds.map((kind) => readings[kind]));
