import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { Keywords, SchemaNode } from "../dialect/schema-node.ts";

/** A schema that a value must satisfy, or must not. */
export interface Part {
  readonly node: SchemaNode;
  readonly isNegated: boolean;
}

/** A condition on a value inside an array or object: the conjunction of its parts. Equal conditions are the same object. */
export interface Condition {
  readonly key: string;
  /** Undefined where no value can satisfy the condition. */
  readonly parts: readonly Part[] | undefined;
}

/** References into several depths of a document can add up to more levels than a single reference may lead over. */
const maxLevels = 256;

/** Makes the conditions of one schema. Schemas that differ in nothing but annotations count as equal. */
export class Conditions {
  readonly anything: Condition = { key: "", parts: [] };
  readonly impossible: Condition = { key: "none", parts: undefined };
  readonly #known = new Map<string, Condition>();
  readonly #byNode = { plain: new Map<SchemaNode, Condition>(), negated: new Map<SchemaNode, Condition>() };
  readonly #numbers = new Map<SchemaNode, number>();
  readonly #numbersByText = new Map<string, number>();
  /** The level of the subschema that is being numbered. */
  #level = 0;

  of(node: SchemaNode, isNegated = false): Condition {
    const byNode = isNegated ? this.#byNode.negated : this.#byNode.plain;
    const known = byNode.get(node);
    if (known) return known;
    const condition = this.#intern(this.#simplify({ node, isNegated }));
    byNode.set(node, condition);
    return condition;
  }

  /** The parts of the conjunction. */
  and(one: Condition, other: Condition): Condition {
    if (one === other || other === this.anything) return one;
    if (one === this.anything) return other;
    if (!one.parts || !other.parts) return this.impossible;
    return this.#intern([...one.parts, ...other.parts]);
  }

  /** Returns conditions. A value satisfies at least one of them if and only if it does not satisfy this one. */
  negationsOf({ parts }: Condition): Condition[] {
    return parts ? parts.map(({ node, isNegated }) => this.of(node, !isNegated)) : [this.anything];
  }

  /** Exactly one value. */
  literal(value: unknown, path: string): Condition {
    return this.of({ path, keywords: { literals: [[value]] } });
  }

  #intern(parts: readonly Part[]): Condition {
    if (parts.some(isImpossible)) return this.impossible;
    const [only] = parts;
    if (parts.length === 1 && only) return this.#shared(this.#keyOf(only), parts);
    const byKey = new Map(parts.map((part) => [this.#keyOf(part), part]));
    for (const key of byKey.keys()) if (byKey.has(`-${key}`)) return this.impossible;
    const key = [...byKey.keys()].toSorted().join();
    return key === "" ? this.anything : this.#shared(key, [...byKey.values()]);
  }

  #shared(key: string, parts: readonly Part[]): Condition {
    const known = this.#known.get(key);
    if (known) return known;
    const condition = { key, parts };
    this.#known.set(key, condition);
    return condition;
  }

  #keyOf({ node, isNegated }: Part): string {
    return `${isNegated ? "-" : ""}${this.#numberOf(node)}`;
  }

  /** Looks through schemas that only refer to, negate or combine others. */
  #simplify(part: Part): Part[] {
    if (partsWithin(part) === undefined) return [part];
    const seen = new Set<SchemaNode>();
    const simple: Part[] = [];
    const open = [part];
    for (let next = open.shift(); next; next = open.shift()) {
      const inner = partsWithin(next);
      // A schema that contains itself is left as it is, and refused where its values are needed.
      if (inner === undefined || seen.has(next.node)) simple.push(next);
      else open.unshift(...inner.filter((one) => !seen.has(one.node) || partsWithin(one) === undefined));
      seen.add(next.node);
    }
    return simple;
  }

  #numberOf(node: SchemaNode): number {
    const known = this.#numbers.get(node);
    if (known !== undefined) return known;
    // A reference counts by the identity of its target, so this recursion ends for a recursive schema.
    this.#level += 1;
    if (this.#level > maxLevels)
      throw new SchemaTooComplexError(`subschemas are nested on more than ${maxLevels} levels`);
    const text = node.keywords === undefined ? "false" : this.#textOf(node.keywords);
    this.#level -= 1;
    const number = this.#numbersByText.get(text) ?? this.#numbersByText.size;
    this.#numbersByText.set(text, number);
    this.#numbers.set(node, number);
    return number;
  }

  #textOf(keywords: Keywords): string {
    const identify = (word: string, value: unknown): unknown => {
      if (word === "$ref") return this.#identityOf(value as SchemaNode);
      if (isNode(value)) return this.#numberOf(value);
      if (value instanceof Map) return Array.from(value, ([name, item]) => [name, identify("", item)]);
      return Array.isArray(value) && word !== "literals" ? value.map((item) => identify("", item)) : value;
    };
    const words = Object.entries(keywords).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify(words.map(([word, value]) => [word, identify(word, value)]));
  }

  readonly #identities = new Map<SchemaNode, number>();

  #identityOf(node: SchemaNode): number {
    const known = this.#identities.get(node) ?? this.#identities.size;
    this.#identities.set(node, known);
    return known;
  }
}

/** Returns the condition that a schema with a single keyword reduces to; undefined if it cannot be reduced. */
function partsWithin({ node, isNegated }: Part): Part[] | undefined {
  if (node.keywords === undefined) return isNegated ? [] : undefined;
  const words = Object.keys(node.keywords);
  const { $ref, not, allOf } = node.keywords;
  if (words.length === 0 && !isNegated) return [];
  if (words.length !== 1) return undefined;
  if ($ref) return [{ node: $ref, isNegated }];
  if (not) return [{ node: not, isNegated: !isNegated }];
  return allOf && !isNegated ? allOf.map((inner) => ({ node: inner, isNegated })) : undefined;
}

/** The schema `false`, or what nothing but the schema `true` excludes. */
const isImpossible = ({ node: { keywords }, isNegated }: Part): boolean =>
  isNegated ? keywords !== undefined && Object.keys(keywords).length === 0 : keywords === undefined;

const isNode = (value: unknown): value is SchemaNode =>
  typeof value === "object" && value !== null && "path" in value && "keywords" in value;
