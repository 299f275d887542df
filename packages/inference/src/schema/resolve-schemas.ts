import { refTarget, schemasOf } from "./schema-node.ts";
import type { Conjunction, Schema, SchemaObject } from "./schema-node.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

/** Schemas that must all hold. Only their own keywords count: `$ref`, `allOf` and `anyOf` are already resolved. */
export type ResolvedSchemas = ReadonlySet<SchemaObject>;

const mostAlternatives = 256;
const mostReferences = 200;

const ownKeywords = ["type", "properties", "required", "additionalProperties", "items", "enum", "const"];

/** Follows `$ref` and `allOf`, and expands `anyOf` into its combinations. Each schema is resolved once. */
export class SchemaResolver {
  readonly #root: Schema;
  readonly #budget: ComplexityBudget;
  readonly #known = new Map<SchemaObject, readonly ResolvedSchemas[]>();

  constructor(root: Schema, budget: ComplexityBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  /** The alternatives that satisfy all of the schemas; empty when nothing can. @throws {SchemaTooComplex} */
  alternativesOf(conjunction: Conjunction): readonly ResolvedSchemas[] {
    return conjunction.reduce<readonly ResolvedSchemas[]>(
      (product, schema) => this.#cross(product, this.#resolve(schema, 0)),
      [new Set()],
    );
  }

  #resolve(schema: Schema, depth: number): readonly ResolvedSchemas[] {
    if (typeof schema === "boolean") return schema ? [new Set()] : [];
    const known = this.#known.get(schema);
    if (known) return known;
    if (depth > mostReferences) throw new SchemaTooComplex(`more than ${mostReferences} references lead to one value`);
    const hasOwnKeyword = ownKeywords.some((keyword) => Object.hasOwn(schema, keyword));
    let product: readonly ResolvedSchemas[] = [new Set(hasOwnKeyword ? [schema] : [])];
    for (const part of this.#requiredBy(schema)) product = this.#cross(product, this.#resolve(part, depth + 1));
    const branches = schemasOf(schema, "anyOf")?.flatMap((branch) => this.#resolve(branch, depth + 1));
    if (branches) product = this.#cross(product, branches);
    this.#known.set(schema, product);
    return product;
  }

  /** The schemas that must hold together with this one in every alternative. */
  #requiredBy(schema: SchemaObject): readonly Schema[] {
    const target = refTarget(schema, this.#root);
    const all = schemasOf(schema, "allOf") ?? [];
    return target === undefined ? all : [target, ...all];
  }

  #cross(some: readonly ResolvedSchemas[], others: readonly ResolvedSchemas[]): readonly ResolvedSchemas[] {
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
