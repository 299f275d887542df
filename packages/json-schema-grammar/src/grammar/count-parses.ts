import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { edgesOf } from "./automaton.ts";
import type { Automaton, Edge } from "./automaton.ts";
import type { Items, Rule } from "./build-rules.ts";
import { finiteValuesOf } from "./finite-values.ts";
import { FreeNames } from "./free-names.ts";

/** The largest number of parses of an unfinished text that llama.cpp may have to follow. It tries every token with each. */
const maxParses = 500;
/** The largest number of combinations of states of one automaton that may be open together. */
const maxCombinations = 5000;

/** Values are compared as texts where a rule has at most this many. */
const maxListed = 64;

/** The number of parses that can be open while a value of the kind is written. 0 if the rule has no such value. */
interface Counts {
  scalar: number;
  array: number;
  object: number;
}

/** The part of a rule's counts that does not depend on the counts of other rules. */
interface Summary {
  readonly scalar: number;
  readonly array: Parallel | undefined;
  readonly object: Parallel | undefined;
}

interface Parallel {
  /** The number of members or items that can begin at one position. */
  readonly starts: number;
  /** The rules of values that can be open at the same time. */
  readonly groups: readonly (readonly number[])[];
}

/**
 * Refuses a grammar that is too ambiguous. llama.cpp follows every parse of the text so far. Where two alternatives begin
 * alike and contain themselves, the number of parses doubles with every level.
 * @throws {SchemaTooComplexError}
 */
export function assertFewParses(rules: readonly Rule[], budget: ComplexityBudget): void {
  const overlap = new Overlap(rules, budget);
  const summaries = rules.map((rule): Summary => ({
    scalar: hasScalar(rule) ? 1 : 0,
    array: summarize(rule.arrays, overlap, budget),
    object: summarize(rule.objects, overlap, budget),
  }));
  const counts = rules.map((): Counts => ({ scalar: 0, array: 0, object: 0 }));
  // Inner rules usually have higher numbers. So one pass backwards settles most counts.
  let order = summaries.map((summary, rule) => ({ summary, rule })).toReversed();
  for (let grew = true; grew; order = order.toReversed()) {
    grew = false;
    for (const { summary, rule } of order) {
      const known = counts[rule];
      const counted: Counts = {
        scalar: summary.scalar,
        array: count(summary.array, counts, budget),
        object: count(summary.object, counts, budget),
      };
      if (largest(counted) > maxParses) throw tooAmbiguous();
      grew ||= known?.scalar !== counted.scalar || known.array !== counted.array || known.object !== counted.object;
      counts[rule] = counted;
    }
  }
}

const tooAmbiguous = (): SchemaTooComplexError =>
  new SchemaTooComplexError(
    `alternatives of the schema begin alike, so that more than ${maxParses} of them stay possible while a value is ` +
      `written: give each a required member with a "const" that tells it apart, before the members that they share`,
  );

const hasScalar = ({ scalars: { hasNull, booleans, strings, numbers } }: Rule): boolean =>
  hasNull || booleans.length > 0 || !strings.isEmpty || !numbers.isEmpty;

const largest = ({ scalar, array, object }: Counts): number => Math.max(scalar, array, object);

function count(parallel: Parallel | undefined, counts: readonly Counts[], budget: ComplexityBudget): number {
  if (parallel === undefined) return 0;
  let most = parallel.starts;
  for (const group of parallel.groups) {
    budget.spend(group.length);
    const sum = (kind: keyof Counts): number => group.reduce((all, rule) => all + (counts[rule]?.[kind] ?? 0), 0);
    most = Math.max(most, sum("scalar"), sum("array"), sum("object"));
  }
  return most;
}

function summarize(items: Items | undefined, overlap: Overlap, budget: ComplexityBudget): Parallel | undefined {
  if (items === undefined) return undefined;
  if (items === "any") return { starts: 1, groups: [] };
  const groups = new Map<string, readonly number[]>();
  const known = new Set(["0"]);
  const open: (readonly number[])[] = [[0]];
  let starts = 1;
  const follow = (states: readonly number[]): void => {
    const sorted = states.length === 1 ? states : [...new Set(states)].toSorted((a, b) => a - b);
    const key = sorted.join();
    if (known.has(key)) return;
    if (known.size === maxCombinations) throw tooAmbiguous();
    known.add(key);
    open.push(sorted);
  };
  // The list grows during the loop.
  for (const states of open) {
    budget.spend(states.length);
    const [edges, others] = edgesFrom(items, states);
    if (others !== undefined) follow([others]);
    const found = groupsOf(edges, overlap, budget);
    starts = Math.max(starts, states.length, edges.filter(({ name }) => name instanceof FreeNames).length + 1);
    for (const group of found) {
      budget.spend(group.length);
      const rules = group.map(({ rule }) => rule);
      if (rules.length > 1) rules.sort((a, b) => a - b);
      groups.set(rules.join(), rules);
      follow(group.map(({ to }) => to));
    }
  }
  return { starts, groups: [...groups.values()] };
}

/** Returns the edges of states that are open together. A state has no name in common with the state whose edges it shares. */
function edgesFrom(
  automaton: Automaton,
  states: readonly number[],
): [edges: readonly Edge[], others: number | undefined] {
  const [only = 0] = states;
  if (states.length > 1) return [states.flatMap((state) => edgesOf(automaton, state)), undefined];
  const state = automaton.states[only];
  return [state?.edges ?? [], state?.others];
}

/** For each edge, the edges that may read the same text as it does. */
function groupsOf(edges: readonly Edge[], overlap: Overlap, budget: ComplexityBudget): Edge[][] {
  if (edges.length < 2) return edges.map((edge) => [edge]);
  const free = edges.filter(({ name }) => name instanceof FreeNames);
  const byName = Map.groupBy(edges, ({ name }) => (name instanceof FreeNames ? undefined : (name ?? 0)));
  return Array.from(byName).flatMap(([name, alike]) => {
    const others = typeof name === "string" ? free.filter((edge) => (edge.name as FreeNames).includes(name)) : [];
    budget.spend(4 * (alike.length + free.length));
    return groupsOfOneName([...alike, ...others], overlap).slice(0, alike.length);
  });
}

/** The same for edges whose names do not tell them apart. Of two lists of literals, only shared literals are compared. */
function groupsOfOneName(edges: readonly Edge[], overlap: Overlap): Edge[][] {
  const literals = edges.map(({ rule }) => (edges.length > 2 ? overlap.literalsOf(rule) : undefined));
  const byLiteral = new Map<string, Edge[]>();
  for (const [index, edge] of edges.entries())
    for (const text of literals[index] ?? []) byLiteral.set(text, [...(byLiteral.get(text) ?? []), edge]);
  const open = edges.filter((_edge, index) => literals[index] === undefined);
  return edges.map((edge, index) => {
    const texts = literals[index];
    const same = texts?.flatMap((text) => byLiteral.get(text) ?? []);
    const compared = (texts ? open : edges).filter((other) => other === edge || overlap.of(edge.rule, other.rule));
    return [...new Set([edge, ...(same ?? []), ...compared])];
  });
}

/** Checks if two rules are ambiguous: they have a common value, or values of the same kind of array or object. */
class Overlap {
  readonly #rules: readonly Rule[];
  readonly #budget: ComplexityBudget;
  readonly #known = new Map<number, boolean>();
  readonly #literals = new Map<number, { readonly texts: readonly string[] | undefined }>();

  constructor(rules: readonly Rule[], budget: ComplexityBudget) {
    this.#rules = rules;
    this.#budget = budget;
  }

  of(one: number, other: number): boolean {
    const key = Math.min(one, other) * this.#rules.length + Math.max(one, other);
    const known = this.#known.get(key) ?? this.#compare(this.#rules[one], this.#rules[other]);
    this.#known.set(key, known);
    return known;
  }

  /** The texts of all values of a rule, where they are few. */
  literalsOf(number: number): readonly string[] | undefined {
    const known = this.#literals.get(number);
    if (known) return known.texts;
    const rule = this.#rules[number];
    const isScalar = rule !== undefined && !rule.arrays && !rule.objects;
    const values = isScalar
      ? finiteValuesOf({ ...rule.scalars, arrays: [], objects: [] }, maxListed, this.#budget)
      : undefined;
    const texts = values?.map((value) => JSON.stringify(value));
    this.#literals.set(number, { texts });
    return texts;
  }

  #compare(one: Rule | undefined, other: Rule | undefined): boolean {
    if (!one || !other) return false;
    this.#budget.spend(2);
    if ((one.arrays && other.arrays) || (one.objects && other.objects)) return true;
    const [a, b] = [one.scalars, other.scalars];
    if ((a.hasNull && b.hasNull) || a.booleans.some((value) => b.booleans.includes(value))) return true;
    return !a.strings.isDisjointFrom(b.strings, this.#budget) || !a.numbers.isDisjointFrom(b.numbers, this.#budget);
  }
}
