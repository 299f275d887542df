import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "../language/language.ts";
import { LanguageRules } from "../language/language-rules.ts";
import { Numbers } from "../values/numbers.ts";
import type { Automaton, Edge } from "./automaton.ts";
import type { Items, Rule } from "./build-rules.ts";
import { FreeNames } from "./free-names.ts";
import { finiteValuesOf } from "./finite-values.ts";
import { addText, emptyTrie, writeTrie } from "../language/text-trie.ts";
import type { TextTrie } from "../language/text-trie.ts";
import { OtherNamesWriter } from "./write-other-names.ts";

/** llama.cpp needs longer to parse a larger grammar than to generate an answer. */
const maxCharacters = 1_000_000;
/** A member's value distinguishes alternatives character by character if it has at most this many values. */
const maxListed = 64;

/** Writes the rules as GBNF. The first one is `PREFIX-0`. @throws {SchemaTooComplexError} where the text would be too long */
export function writeRules(rules: readonly Rule[], prefix: string, budget: ComplexityBudget): string {
  const writer = new RuleWriter(rules, prefix, budget);
  return writer.write();
}

class RuleWriter {
  readonly #rules: readonly Rule[];
  readonly #prefix: string;
  readonly #budget: ComplexityBudget;
  readonly #scalars: LanguageRules;
  readonly #otherNames: OtherNamesWriter;
  readonly #lines: string[] = [];
  #charactersLeft = maxCharacters;

  constructor(rules: readonly Rule[], prefix: string, budget: ComplexityBudget) {
    this.#rules = rules;
    this.#prefix = prefix;
    this.#budget = budget;
    this.#scalars = new LanguageRules(`${prefix}-t`, budget);
    this.#otherNames = new OtherNamesWriter(`${prefix}-x`, budget, (name, body) => this.#define(name, body));
  }

  write(): string {
    for (const [number, rule] of this.#rules.entries()) {
      const options = isAny(rule) ? ["any"] : this.#options(rule, this.#nameOf(number));
      // No rule refers to one without a value.
      if (options.length > 0) this.#define(this.#nameOf(number), options.join(" | "));
    }
    return [...this.#lines, ...this.#scalars.lines].join("\n");
  }

  #nameOf(rule: number): string {
    return `${this.#prefix}-${rule}`;
  }

  #define(name: string, body: string): void {
    this.#charactersLeft -= name.length + body.length;
    this.#budget.spend(1 + (body.length >> 4));
    if (this.#charactersLeft < 0)
      throw new SchemaTooComplexError(`the grammar of the schema has more than ${maxCharacters} characters`);
    this.#lines.push(`${name} ::= ${body}`);
  }

  #options({ scalars, arrays, objects }: Rule, name: string): string[] {
    const { hasNull, booleans, strings, numbers } = scalars;
    return [
      ...(hasNull ? ["null"] : []),
      ...(booleans.length === 2 ? ["boolean"] : booleans.map((value) => `"${value}"`)),
      ...(strings.isEmpty ? [] : [this.#string(strings)]),
      ...(numbers.isEmpty ? [] : [this.#number(numbers)]),
      ...(arrays ? [this.#arrays(arrays, `${name}-a`)] : []),
      ...(objects ? [this.#objects(objects, `${name}-o`)] : []),
    ];
  }

  #string(language: Language): string {
    return language === Language.any ? "string" : this.#scalars.string(language);
  }

  /** The rule for an undeclared name. */
  #freeName(names: FreeNames): string {
    if (names.excluded?.size === 0) return "string";
    this.#budget.spend(names.excluded?.size ?? 1);
    const isPlain = names.excluded && Array.from(names.excluded).every((name) => JSON.stringify(name) === `"${name}"`);
    if (!names.excluded || isPlain !== true) return this.#scalars.string(names.toLanguage(this.#budget));
    return this.#otherNames.write(names.excluded);
  }

  #number(numbers: Numbers): string {
    if (numbers === Numbers.all || numbers === Numbers.doubles) return "number";
    if (numbers === Numbers.integers) return "integer";
    if (numbers.listed) return `(${numbers.listed.map((value) => `"${JSON.stringify(value)}"`).join(" | ")})`;
    return this.#scalars.number(numbers.toSet(this.#budget));
  }

  #arrays(items: Items, name: string): string {
    if (items === "any") return "any-array";
    for (const [number, { edges }] of items.states.entries()) {
      if (edges.length === 0) continue;
      const next = edges.map(({ rule, to }) => [this.#nameOf(rule), ...continuation(items, to, name)].join(" "));
      defineState(items, number, name, next, (rule, body) => this.#define(rule, body));
    }
    return enclose("[", items, name, "]");
  }

  #objects(items: Items, name: string): string {
    if (items === "any") return "any-object";
    return new MemberWriter(items, name, {
      nameOf: (rule) => this.#nameOf(rule),
      freeName: (names) => this.#freeName(names),
      define: (rule, body) => this.#define(rule, body),
      literalsOf: (rule) => this.#literalsOf(rule),
      budget: this.#budget,
    }).write();
  }

  /** The texts of all values of a rule, where they are few. */
  #literalsOf(number: number): string[] | undefined {
    const rule = this.#rules[number];
    if (!rule || rule.arrays || rule.objects) return undefined;
    const values = finiteValuesOf({ ...rule.scalars, arrays: [], objects: [] }, maxListed, this.#budget);
    return values?.map((value) => JSON.stringify(value));
  }
}

const isAny = ({ scalars, arrays, objects }: Rule): boolean =>
  arrays === "any" &&
  objects === "any" &&
  scalars.hasNull &&
  scalars.booleans.length === 2 &&
  scalars.strings === Language.any &&
  scalars.numbers === Numbers.all;

/** Returns the expression after an item or member that leads to a state: empty if the array or object must end. */
function continuation({ states }: Automaton, state: number, name: string): string[] {
  const next = states[state];
  return next && (next.edges.length > 0 || next.others !== undefined) ? [`${name}${state}`] : [];
}

/** Writes the rule for the items or members after a state. For the start, it has the first ones. */
function defineState(
  automaton: Automaton,
  number: number,
  name: string,
  options: readonly string[],
  define: (name: string, body: string) => void,
): void {
  const end = automaton.states[number]?.isEnd === true ? ' | ""' : "";
  const [only = ""] = options;
  const body = options.length === 1 ? only : `(${options.join(" | ")})`;
  if (number > 0) return define(`${name}${number}`, `"," sp ${body}${end}`);
  define(`${name}-first`, options.join(" | "));
  const isRepeated = automaton.states.some(({ edges }) => edges.some(({ to }) => to === 0));
  if (isRepeated) define(`${name}0`, `"," sp ${name}-first${end}`);
}

function enclose(open: string, automaton: Automaton, name: string, close: string): string {
  const start = automaton.states[0];
  const hasMore = start && (start.edges.length > 0 || start.others !== undefined);
  if (!hasMore) return `"${open}${close}"`;
  return `"${open}" ${start.isEnd ? `(${name}-first | "")` : `${name}-first`} "${close}"`;
}

interface MemberContext {
  readonly nameOf: (rule: number) => string;
  readonly freeName: (names: FreeNames) => string;
  readonly define: (name: string, body: string) => void;
  readonly budget: ComplexityBudget;
  readonly literalsOf: (rule: number) => string[] | undefined;
}

/** Writes the members of one automaton. Their names form one trie, so the parser follows only one of them. */
class MemberWriter {
  readonly #automaton: Automaton;
  readonly #name: string;
  readonly #context: MemberContext;
  readonly #tries = new Map<number, TextTrie<Edge>>();
  readonly #free = new Map<number, readonly string[]>();
  readonly #branches = new Map<TextTrie<unknown>, string>();

  constructor(automaton: Automaton, name: string, context: MemberContext) {
    this.#automaton = automaton;
    this.#name = name;
    this.#context = context;
  }

  /** The expression for the whole object. */
  write(): string {
    // Later states come first, because a state shares the trie of the state after it.
    for (let state = this.#automaton.states.length - 1; state >= 0; state--) {
      if (continuation(this.#automaton, state, this.#name).length > 0) this.#writeState(state);
    }
    return enclose("{", this.#automaton, this.#name, "}");
  }

  #writeState(number: number): void {
    const trie = this.#trieOf(number);
    const declared = trie.next.length > 0 ? [this.#writeNames(trie)] : [];
    const options = [...declared, ...(this.#free.get(number) ?? [])];
    defineState(this.#automaton, number, this.#name, options, this.#context.define);
  }

  #trieOf(number: number): TextTrie<Edge> {
    // The chain of states may be longer than the call stack is deep.
    const chain: number[] = [];
    for (let at: number | undefined = number; at !== undefined && !this.#tries.has(at);) {
      chain.push(at);
      at = this.#automaton.states[at]?.others;
    }
    for (const state of chain.toReversed()) {
      const { edges = [], others } = this.#automaton.states[state] ?? {};
      const shared = (others === undefined ? undefined : this.#tries.get(others)) ?? emptyTrie;
      let trie = shared;
      for (const edge of edges) {
        if (typeof edge.name !== "string") continue;
        this.#context.budget.spend(1 + (edge.name.length >> 3));
        trie = addText(trie, JSON.stringify(edge.name), edge);
      }
      this.#tries.set(state, trie);
      const inherited = others === undefined ? [] : (this.#free.get(others) ?? []);
      this.#free.set(state, [...this.#freeMembers(state, edges), ...inherited]);
    }
    return this.#tries.get(number) ?? emptyTrie;
  }

  #writeNames(trie: TextTrie<Edge>): string {
    return writeTrie(
      trie,
      (edges) => this.#writeValues(edges),
      (branch, write) => this.#defineBranch(branch, write),
    );
  }

  /** Returns the expression after a name: one of its possible values, and the members after it. */
  #writeValues(edges: readonly Edge[]): string {
    const [only] = edges;
    if (edges.length === 1 && only) return `":" sp ${this.#writeValue(only)}`;
    let literals: TextTrie<Edge> = emptyTrie;
    const others: string[] = [];
    for (const edge of edges) {
      const texts = this.#context.literalsOf(edge.rule);
      if (texts) literals = texts.reduce((trie, text) => addText(trie, text, edge), literals);
      else others.push(this.#writeValue(edge));
    }
    const writeEnds = (ends: readonly Edge[]): string => {
      const next = new Set(ends.map(({ to }) => continuation(this.#automaton, to, this.#name).join(" ")));
      return next.size === 1 ? [...next].join("") : `(${Array.from(next, (one) => one || '""').join(" | ")})`;
    };
    const listed =
      literals.next.length > 0
        ? [writeTrie(literals, writeEnds, (branch, write) => this.#defineBranch(branch, write))]
        : [];
    return `":" sp (${[...listed, ...others].join(" | ")})`;
  }

  #writeValue({ rule, to }: Edge): string {
    return [this.#context.nameOf(rule), ...continuation(this.#automaton, to, this.#name)].join(" ");
  }

  /** Writes the rule for the undeclared members of a state, if it has any. */
  #freeMembers(state: number, edges: readonly Edge[]): string[] {
    const members = edges.flatMap((edge) => {
      if (!(edge.name instanceof FreeNames)) return [];
      return [`${this.#context.freeName(edge.name)} ":" sp ${this.#writeValue(edge)}`];
    });
    if (members.length === 0) return [];
    const name = `${this.#name}f${state}`;
    this.#context.define(name, members.join(" | "));
    return [name];
  }

  #defineBranch(branch: TextTrie<unknown>, write: () => string): string {
    const known = this.#branches.get(branch);
    if (known !== undefined) return known;
    const name = `${this.#name}n${this.#branches.size}`;
    this.#branches.set(branch, name);
    this.#context.define(name, write());
    return name;
  }
}
