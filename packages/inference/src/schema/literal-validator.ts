import {
  asConjunction,
  canonical,
  isSchemaObject,
  memberConjunction,
  namedTypes,
  refTarget,
  requiredOf,
  schemasOf,
  typeOf,
} from "./schema-node.ts";
import type { Schema, SchemaObject } from "./schema-node.ts";
import { SchemaTooComplex } from "./complexity-budget.ts";
import type { ComplexityBudget } from "./complexity-budget.ts";

const deepest = 200;

/** Validates values against schemas: the literals of `enum` and `const`, and the answers of upstream engines. */
export class LiteralValidator {
  readonly #root: Schema;
  readonly #budget: ComplexityBudget;
  /** What `enum` and `const` of each schema allow, once it has been asked. */
  readonly #allowed = new Map<SchemaObject, ReadonlySet<string> | undefined>();

  constructor(root: Schema, budget: ComplexityBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  /** Whether a value satisfies the schema's own keywords, without `$ref`, `allOf` and `anyOf`. @throws {SchemaTooComplex} */
  acceptsOwnKeywords(schema: SchemaObject, value: unknown, depth = 0): boolean {
    this.#budget.spend(1);
    if (depth > deepest) throw new SchemaTooComplex(`a literal is validated on more than ${deepest} levels`);
    return acceptsType(schema, value) && this.#acceptsText(schema, value) && this.#acceptsInside(schema, value, depth);
  }

  /** Whether a value satisfies the schema, judged by the keywords that can be enforced. @throws {SchemaTooComplex} */
  accepts(schema: Schema, value: unknown, depth = 0): boolean {
    if (typeof schema === "boolean") return schema;
    if (!this.acceptsOwnKeywords(schema, value, depth)) return false;
    const target = refTarget(schema, this.#root);
    const all = [...(target === undefined ? [] : [target]), ...(schemasOf(schema, "allOf") ?? [])];
    const any = schemasOf(schema, "anyOf");
    return (
      all.every((one) => this.accepts(one, value, depth + 1)) &&
      (any === undefined || any.some((one) => this.accepts(one, value, depth + 1)))
    );
  }

  #acceptsText(schema: SchemaObject, value: unknown): boolean {
    if (!this.#allowed.has(schema)) this.#allowed.set(schema, literalTexts(schema));
    const allowed = this.#allowed.get(schema);
    if (allowed === undefined) return true;
    const text = canonical(value);
    this.#budget.spend(text.length >> 6);
    return allowed.has(text);
  }

  #acceptsInside(schema: SchemaObject, value: unknown, depth: number): boolean {
    if (Array.isArray(value)) {
      const items = asConjunction(schema["items"]);
      return value.every((item) => items.every((one) => this.accepts(one, item, depth + 1)));
    }
    if (!isSchemaObject(value)) return true;
    if (requiredOf(schema).some((name) => !Object.hasOwn(value, name))) return false;
    return Object.entries(value).every(([name, item]) =>
      memberConjunction(schema, name).every((one) => this.accepts(one, item, depth + 1)),
    );
  }
}

function acceptsType(schema: SchemaObject, value: unknown): boolean {
  const named = namedTypes(schema);
  if (named === undefined) return true;
  const type = typeOf(value);
  return named.includes(type) || (type === "integer" && named.includes("number"));
}

/** The values that `enum` and `const` allow, as canonical JSON, or undefined when the schema has neither. */
function literalTexts(schema: SchemaObject): ReadonlySet<string> | undefined {
  const options = Array.isArray(schema["enum"]) ? new Set(schema["enum"].map(canonical)) : undefined;
  if (!Object.hasOwn(schema, "const")) return options;
  const text = canonical(schema["const"]);
  return new Set(options === undefined || options.has(text) ? [text] : []);
}
