import { LiteralValidator } from "./literal-validator.ts";
import { SchemaResolver } from "./resolve-schemas.ts";
import type { ResolvedSchemas } from "./resolve-schemas.ts";
import { SchemaIds } from "./schema-ids.ts";
import { canonical } from "./schema-node.ts";
import type { Conjunction, Schema } from "./schema-node.ts";
import { nodesOf } from "./grammar-node.ts";
import type { Member, GrammarNode } from "./grammar-node.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** Every keyword of the schema can be enforced, but no finite JSON value satisfies all of them. */
export class UnsatisfiableSchema extends Error {}

/** A schema as numbered grammar rules. Every node in it can be completed to a finite value. */
export interface CompiledGrammar {
  /**
   * The alternatives of each rule. Rule 0 is the whole value. A rule that nothing satisfies has no alternatives, and no
   * node refers to it.
   */
  readonly rules: readonly (readonly GrammarNode[])[];
  /** For each rule, the alternative that can be completed without using the rule again. */
  readonly finite: readonly (GrammarNode | undefined)[];
}

/** @throws {SchemaTooComplex} {UnsatisfiableSchema} */
export function compileGrammar(conjunction: Conjunction, root: Schema, budget: ComplexityBudget): CompiledGrammar {
  const numbering = new Numbering(root, budget);
  numbering.ruleOf(conjunction);
  const all = numbering.expand();
  const finite = findFinite(all, budget);
  if (finite[0] === undefined) throw new UnsatisfiableSchema("no finite JSON value satisfies this schema");
  const isPossible = (rule: number): boolean => finite[rule] !== undefined;
  const keep = (node: GrammarNode): GrammarNode[] =>
    neededBy(node).every(isPossible) ? [prune(node, isPossible)] : [];
  const rules = all.map((nodes) => nodes.flatMap(keep));
  return {
    rules: rules.map((nodes) => disambiguate(nodes, rules)),
    finite: finite.map((node) => node && prune(node, isPossible)),
  };
}

const mostRules = 10_000;

/** Gives every distinct conjunction of schemas that can be reached the number of a rule. */
class Numbering {
  readonly #budget: ComplexityBudget;
  readonly #resolver: SchemaResolver;
  readonly #validator: LiteralValidator;
  readonly #schemaIds = new SchemaIds();
  readonly #ids = new Map<string, number>();
  /** For each rule, the ways to satisfy its conjunction. */
  readonly #alternatives: (readonly ResolvedSchemas[])[] = [];

  constructor(root: Schema, budget: ComplexityBudget) {
    this.#budget = budget;
    this.#resolver = new SchemaResolver(root, budget);
    this.#validator = new LiteralValidator(root, budget);
  }

  ruleOf(conjunction: Conjunction): number {
    const alternatives = this.#resolver.alternativesOf(conjunction);
    // The brackets tell one alternative without any condition from no alternative at all.
    const key = [...new Set(alternatives.map((resolved) => `(${this.#keyOf(resolved)})`))].join("");
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    if (this.#alternatives.length === mostRules)
      throw new SchemaTooComplex(`the schema needs more than ${mostRules} grammar rules`);
    this.#ids.set(key, this.#alternatives.length);
    return this.#alternatives.push(alternatives) - 1;
  }

  #keyOf(resolved: ResolvedSchemas): string {
    this.#budget.spend(1 + resolved.size);
    return [...new Set(Array.from(resolved, (schema) => this.#schemaIds.idOf(schema)))]
      .toSorted((a, b) => a - b)
      .join();
  }

  /** The nodes of every rule, including the rules that are first numbered on the way. */
  expand(): GrammarNode[][] {
    const rules: GrammarNode[][] = [];
    // The list grows during the loop, because the values inside a node get rules of their own.
    for (const alternatives of this.#alternatives) {
      const nodes = alternatives.flatMap((resolved) =>
        nodesOf(resolved, (inner) => this.ruleOf(inner), this.#validator),
      );
      this.#budget.spend(nodes.reduce((sum, node) => sum + (node.kind === "object" ? 1 + node.members.length : 1), 0));
      rules.push(distinct(nodes, this.#budget));
    }
    return rules;
  }
}

function distinct(nodes: readonly GrammarNode[], budget: ComplexityBudget): GrammarNode[] {
  const byText = new Map<string, GrammarNode>();
  for (const node of nodes) {
    const text = canonical(node);
    budget.spend(text.length >> 6);
    byText.set(text, node);
  }
  return [...byText.values()];
}

/** The rules that must have a finite value for the node to have one. */
function neededBy(node: GrammarNode): number[] {
  if (node.kind !== "object") return []; // an array may be empty
  return node.members.filter((member) => member.isRequired).map((member) => member.rule);
}

/**
 * For each rule, an alternative that can be completed to a finite value: the least fixed point over all alternatives.
 * Inner rules usually have higher numbers. So the first pass goes backwards and settles most rules; later passes change
 * direction each time.
 */
function findFinite(rules: readonly (readonly GrammarNode[])[], budget: ComplexityBudget): (GrammarNode | undefined)[] {
  const finite: (GrammarNode | undefined)[] = rules.map(() => undefined);
  const inOrder = rules.map((nodes, rule) => ({
    rule,
    candidates: nodes.map((node) => ({ node, needed: neededBy(node) })),
  }));
  let order = inOrder.toReversed();
  for (let grew = true; grew; order = order.toReversed()) {
    grew = false;
    for (const { rule, candidates } of order) {
      if (finite[rule] !== undefined) continue;
      budget.spend(candidates.reduce((sum, { needed }) => sum + needed.length, 1));
      finite[rule] = candidates.find(({ needed }) => needed.every((inner) => finite[inner] !== undefined))?.node;
      grew ||= finite[rule] !== undefined;
    }
  }
  return finite;
}

/** The node without the parts that no finite value can have. */
function prune(node: GrammarNode, isPossible: (rule: number) => boolean): GrammarNode {
  if (node.kind === "array") return isPossible(node.item) ? node : { kind: "literal", value: [] };
  if (node.kind !== "object") return node;
  if (node.rest !== undefined) return isPossible(node.rest) ? node : { kind: "literal", value: {} };
  return { ...node, members: node.members.filter((member) => isPossible(member.rule)) };
}

/**
 * Where a value may be one of several objects, the members that tell the objects apart are written first. The parser
 * then has to follow one object only.
 */
function disambiguate(
  nodes: readonly GrammarNode[],
  rules: readonly (readonly GrammarNode[])[],
): readonly GrammarNode[] {
  if (nodes.filter((node) => node.kind === "object").length < 2) return nodes;
  const isDiscriminator = ({ rule, isRequired }: Member): boolean =>
    isRequired && (rules[rule] ?? []).every((node) => node.kind === "literal");
  return nodes.map((node) => {
    if (node.kind !== "object") return node;
    return {
      ...node,
      members: [...node.members.filter(isDiscriminator), ...node.members.filter((member) => !isDiscriminator(member))],
    };
  });
}
