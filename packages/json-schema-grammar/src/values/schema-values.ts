import type { ComplexityBudget } from "../complexity-budget.ts";
import { joinPath } from "../dialect/raw-schema.ts";
import type { Keywords, SchemaNode } from "../dialect/schema-node.ts";
import { NotRegularError, UnenforceableKeywordError } from "../schema-fault.ts";
import { Conditions } from "./condition.ts";
import type { Condition, Part } from "./condition.ts";
import { OwnKeywords } from "./own-keywords.ts";
import { ValueAlgebra } from "./value-algebra.ts";
import type { ValueSet } from "./value-set.ts";

/** Longer chains of schemas that apply to one value are refused. */
const maxApplied = 200;
/** The number of levels below a value that are searched for an unsatisfiable member. */
const emptinessLevels = 3;

/**
 * The values that satisfy a condition. The contents of arrays and objects stay conditions. So the expansion of a recursive
 * schema ends.
 */
export class SchemaValues {
  readonly conditions = new Conditions();
  readonly algebra: ValueAlgebra;
  readonly #own: OwnKeywords;
  readonly #known = new Map<string, ValueSet>();
  readonly #byNode = new Map<SchemaNode, ValueSet>();
  /** The schemas that are being turned into values. */
  readonly #open = new Set<SchemaNode>();
  readonly #budget: ComplexityBudget;
  #emptinessLevel = 0;

  constructor(budget: ComplexityBudget) {
    this.#budget = budget;
    this.algebra = new ValueAlgebra(this.conditions, budget, (condition) => this.#isKnownEmpty(condition));
    this.#own = new OwnKeywords(this.conditions, this.algebra, budget, (node) => this.#ofNode(node).strings);
  }

  /** @throws {UnenforceableKeywordError} {SchemaTooComplexError} */
  valuesOf(condition: Condition): ValueSet {
    const known = this.#known.get(condition.key);
    if (known) return known;
    const values = condition.parts
      ? condition.parts.reduce((set, part) => this.algebra.intersect(set, this.#ofPart(part)), this.algebra.everything)
      : this.algebra.nothing;
    this.#known.set(condition.key, values);
    return values;
  }

  #ofPart({ node, isNegated }: Part): ValueSet {
    if (!isNegated) return this.#ofNode(node);
    return this.#reducing(node, "not", () => this.algebra.subtract(this.algebra.everything, this.#ofNode(node)));
  }

  #ofNode(node: SchemaNode): ValueSet {
    if (node.keywords === undefined) return this.algebra.nothing;
    const known = this.#byNode.get(node);
    if (known) return known;
    if (this.#open.has(node) || this.#open.size > maxApplied) throw new CircularSchemaError(node);
    this.#open.add(node);
    try {
      const values = this.#ofKeywords(node, node.keywords);
      this.#byNode.set(node, values);
      return values;
    } finally {
      this.#open.delete(node);
    }
  }

  #ofKeywords(node: SchemaNode, keywords: Keywords): ValueSet {
    const { $ref, allOf = [], anyOf, oneOf, not } = keywords;
    this.#budget.spend(8);
    const { algebra } = this;
    const all = [...($ref ? [$ref] : []), ...allOf].map((part) => () => this.#ofNode(part));
    const others = [
      ...(anyOf ? [() => this.#unionOf(anyOf.map((branch) => this.#ofNode(branch)))] : []),
      ...(oneOf ? [() => this.#exactlyOne(node, oneOf)] : []),
      ...(keywords.if ? [() => this.#conditional(node, keywords)] : []),
      ...[...(keywords.dependentSchemas ?? [])].map(
        ([name, needed]) =>
          () =>
            this.#dependent(name, this.#ofNode(needed)),
      ),
      ...[...(keywords.dependentRequired ?? [])].map(
        ([name, needed]) =>
          () =>
            this.#dependent(name, this.#own.withMembers(needed, true)),
      ),
    ];
    const own = (): ValueSet => this.#own.valuesOf(node, keywords);
    // Members come in the order in which the schema declares them, wherever it declares its own.
    const words = Object.keys(keywords);
    const isOwnLast =
      all.length > 0 && Math.max(words.indexOf("$ref"), words.indexOf("allOf")) < words.indexOf("properties");
    const ordered = isOwnLast ? [...all, own, ...others] : [own, ...all, ...others];
    const values = ordered.reduce((set, step) => algebra.intersect(set, step()), algebra.everything);
    return not ? this.#reducing(node, "not", () => algebra.subtract(values, this.#ofNode(not))) : values;
  }

  #unionOf(sets: readonly ValueSet[]): ValueSet {
    // Halves are united first. Otherwise long lists would be copied once for each of their members.
    const [first = this.algebra.nothing, ...others] = sets;
    if (others.length === 0) return first;
    const middle = sets.length >> 1;
    return this.algebra.union(this.#unionOf(sets.slice(0, middle)), this.#unionOf(sets.slice(middle)));
  }

  #exactlyOne(node: SchemaNode, branches: readonly SchemaNode[]): ValueSet {
    const sets = branches.map((branch) => this.#ofNode(branch));
    return this.#reducing(node, "oneOf", () =>
      this.#unionOf(
        sets.map((set, index) =>
          sets.reduce((left, other, place) => (place === index ? left : this.algebra.subtract(left, other)), set),
        ),
      ),
    );
  }

  #conditional(node: SchemaNode, keywords: Keywords): ValueSet {
    const { algebra } = this;
    const valuesOf = (inner: SchemaNode | undefined): ValueSet => (inner ? this.#ofNode(inner) : algebra.everything);
    if (!keywords.then && !keywords.else) return algebra.everything;
    const condition = valuesOf(keywords.if);
    const then = algebra.intersect(condition, valuesOf(keywords.then));
    const otherwise = this.#reducing(node, "if", () => algebra.subtract(valuesOf(keywords.else), condition));
    return algebra.union(then, otherwise);
  }

  /** The values that have no member of that name, and those that have it and are in the set. */
  #dependent(name: string, needed: ValueSet): ValueSet {
    const present = this.#own.withMembers([name], true);
    return this.algebra.union(this.#own.withoutMember(name), this.algebra.intersect(present, needed));
  }

  /** Runs what may find that a keyword does not reduce to a regular set. */
  #reducing(node: SchemaNode, keyword: string, reduce: () => ValueSet): ValueSet {
    try {
      return reduce();
    } catch (error) {
      if (!(error instanceof NotRegularError)) throw error;
      const reason = `"${keyword}" cannot be enforced here: ${error.message}`;
      throw new UnenforceableKeywordError({ path: joinPath(node.path, keyword), keyword, reason });
    }
  }

  /** Checks if the condition is unsatisfiable. False also means that it is not known yet. */
  #isKnownEmpty(condition: Condition): boolean {
    if (!condition.parts) return true;
    if (condition.parts.length === 0 || this.#emptinessLevel === emptinessLevels) return false;
    if (condition.parts.some(({ node }) => this.#open.has(node))) return false;
    this.#emptinessLevel += 1;
    try {
      return this.algebra.isEmpty(this.valuesOf(condition));
    } catch (error) {
      // The condition contains the schema that is being evaluated, so the evaluation is circular.
      if (error instanceof CircularSchemaError) return false;
      throw error;
    } finally {
      this.#emptinessLevel -= 1;
    }
  }
}

/** A schema that applies to the same value as itself. */
class CircularSchemaError extends UnenforceableKeywordError {
  override name = "CircularSchemaError";
  constructor({ path }: SchemaNode) {
    const reason = `"$ref" leads back to itself, or over more than ${maxApplied} others`;
    super({ path: joinPath(path, "$ref"), keyword: "$ref", reason });
  }
}
