import { refTarget, schemasOf } from "./schema-node.ts";
import type { Conjunction, Schema, SchemaObject } from "./schema-node.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** Schemas that must hold at once, each for what it says itself: `$ref`, `allOf` and `anyOf` are resolved. */
export type Flat = ReadonlySet<SchemaObject>;

const mostAlternatives = 256;
const mostReferences = 200;

const ownKeywords = ["type", "properties", "required", "additionalProperties", "items", "enum", "const"];

/** Follows `$ref` and `allOf` and multiplies `anyOf` out, every schema once. */
export class Alternatives {
  readonly #root: Schema;
  readonly #budget: ComplexityBudget;
  readonly #known = new Map<SchemaObject, readonly Flat[]>();

  constructor(root: Schema, budget: ComplexityBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  /** The ways to satisfy all of the schemas; none when nothing can. @throws {SchemaTooComplex} */
  of(conjunction: Conjunction): readonly Flat[] {
    return conjunction.reduce<readonly Flat[]>(
      (product, schema) => this.#cross(product, this.#ofOne(schema, 0)),
      [new Set()],
    );
  }

  #ofOne(schema: Schema, depth: number): readonly Flat[] {
    if (typeof schema === "boolean") return schema ? [new Set()] : [];
    const known = this.#known.get(schema);
    if (known) return known;
    if (depth > mostReferences) throw new SchemaTooComplex(`more than ${mostReferences} references lead to one value`);
    const saysSomething = ownKeywords.some((keyword) => Object.hasOwn(schema, keyword));
    let product: readonly Flat[] = [new Set(saysSomething ? [schema] : [])];
    for (const part of this.#partsOf(schema)) product = this.#cross(product, this.#ofOne(part, depth + 1));
    const branches = schemasOf(schema, "anyOf")?.flatMap((branch) => this.#ofOne(branch, depth + 1));
    if (branches) product = this.#cross(product, branches);
    this.#known.set(schema, product);
    return product;
  }

  /** The schemas that hold beside this one whatever alternative is taken. */
  #partsOf(schema: SchemaObject): readonly Schema[] {
    const target = refTarget(schema, this.#root);
    const all = schemasOf(schema, "allOf") ?? [];
    return target === undefined ? all : [target, ...all];
  }

  #cross(some: readonly Flat[], others: readonly Flat[]): readonly Flat[] {
    if (some.length * others.length > mostAlternatives) {
      throw new SchemaTooComplex(`"anyOf" multiplies into more than ${mostAlternatives} alternatives`);
    }
    this.#budget.spend(1 + others.length);
    return some.flatMap((one) =>
      others.map((other) => {
        this.#budget.spend(one.size + other.size);
        return new Set([...one, ...other]);
      }),
    );
  }
}
