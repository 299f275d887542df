import { summarizeObject } from "./object-summary.ts";
import type { ObjectSummary } from "./object-summary.ts";
import { writeLiteralTrie } from "./literal-trie.ts";
import type { CompiledGrammar } from "./compile-grammar.ts";
import { kindOf, kinds } from "./grammar-node.ts";
import type { Kind, GrammarNode } from "./grammar-node.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** The largest number of parses of an unfinished text that llama.cpp may have to follow. It tries every token with each. */
const mostParses = 500;

/** How many parses can be open while a value of each kind is being written. */
type ParseCounts = Readonly<Record<Kind, number>>;

/** The part of a rule's count that does not depend on other rules, and the rules that the rest depends on. */
interface RuleSummary {
  readonly rule: number;
  readonly plain: ParseCounts;
  /** The item rule of each array. */
  readonly items: readonly number[];
  readonly objects: readonly ObjectSummary[];
}

/**
 * Refuses a grammar that is too ambiguous. llama.cpp follows every parse of the text so far. Where two alternatives begin
 * alike and contain themselves, the number of parses doubles with every level.
 * @throws {SchemaTooComplex}
 */
export function assertFewParseAlternatives({ rules }: CompiledGrammar, budget: ComplexityBudget): void {
  const counts: ParseCounts[] = rules.map(() => nothing);
  const summaries = rules.map((nodes, rule) => summarizeRule(rule, nodes, rules, budget));
  let order = summaries.toReversed();
  for (let grew = true; grew; order = order.toReversed()) {
    grew = false;
    for (const summary of order) {
      const counted = count(summary, counts, budget);
      if (kinds.some((kind) => counted[kind] > mostParses)) throw tooAmbiguous();
      grew ||= kinds.some((kind) => counted[kind] !== counts[summary.rule]?.[kind]);
      counts[summary.rule] = counted;
    }
  }
}

const nothing: ParseCounts = { object: 0, array: 0, string: 0, number: 0, boolean: 0, null: 0 };

const tooAmbiguous = (): SchemaTooComplex =>
  new SchemaTooComplex(
    `alternatives of "anyOf" that contain themselves begin alike, or more than ${mostParses} optional members follow each ` +
      `other: give every alternative a required member with a "const" that tells it apart`,
  );

function summarizeRule(
  rule: number,
  nodes: readonly GrammarNode[],
  rules: CompiledGrammar["rules"],
  budget: ComplexityBudget,
): RuleSummary {
  const literals = Map.groupBy(
    nodes.flatMap((node) => (node.kind === "literal" ? [node.value] : [])),
    kindOf,
  );
  const plain = (kind: Kind): number => {
    const texts = literals.get(kind)?.map((value) => JSON.stringify(value));
    const others = nodes.filter((node) => node.kind === "any" || (node.kind === "scalar" && node.type === kind));
    return others.length + (texts ? writeLiteralTrie(texts).width : 0);
  };
  const integers = nodes.filter((node) => node.kind === "scalar" && node.type === "integer").length;
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
    items: nodes.flatMap((node) => (node.kind === "array" ? [node.item] : [])),
    objects: nodes.flatMap((node) => (node.kind === "object" ? [summarizeObject(node, rules, budget)] : [])),
  };
}

function count(
  { plain, items, objects }: RuleSummary,
  counts: readonly ParseCounts[],
  budget: ComplexityBudget,
): ParseCounts {
  budget.spend(1 + items.length);
  const inside = (kind: Kind): number => items.reduce((sum, rule) => sum + (counts[rule]?.[kind] ?? 0), 0);
  return {
    ...plain,
    array: plain.array + Math.max(items.length, ...kinds.map(inside)),
    object: plain.object + countObjects(objects, counts, budget),
  };
}

/**
 * Two objects whose first members have the same name and the same kind of value count as ambiguous to their end. This may
 * count too many parses, and never too few.
 */
function countObjects(
  objects: readonly ObjectSummary[],
  counts: readonly ParseCounts[],
  budget: ComplexityBudget,
): number {
  const alike = new Map<string, number>();
  let always = 0;
  for (const object of objects) {
    const { prefixes, inner } = object;
    budget.spend(1 + (prefixes?.length ?? 0) + inner.length);
    const own = inner.reduce((most, rule) => Math.max(most, largest(counts[rule] ?? nothing)), object.longestRun);
    if (!prefixes) always += own;
    for (const { text } of prefixes ?? []) alike.set(text, (alike.get(text) ?? 0) + own);
  }
  const widened = objects.flatMap(({ prefixes = [] }) =>
    prefixes.map(({ text, wider }) => (alike.get(text) ?? 0) + (wider === undefined ? 0 : (alike.get(wider) ?? 0))),
  );
  const atStart = objects.reduce((sum, { firstNames }) => sum + firstNames, 0);
  return Math.max(atStart, always + widened.reduce((most, one) => Math.max(most, one), 0));
}

const largest = (counts: ParseCounts): number => Math.max(...kinds.map((kind) => counts[kind]));
