import { childrenOf, isAnnotation, propertiesOf } from "./schema-node.ts";
import type { Schema } from "./schema-node.ts";

/**
 * Numbers the schemas of one document. Schemas that are equal apart from annotations get the same number, so that a schema
 * which is written out twice needs only one rule.
 */
export class SchemaIds {
  readonly #bySchema = new Map<Schema, number>();
  readonly #byText = new Map<string, number>();

  idOf(schema: Schema): number {
    const known = this.#bySchema.get(schema);
    if (known !== undefined) return known;
    const text = this.#textOf(schema);
    const id = this.#byText.get(text) ?? this.#byText.size;
    this.#byText.set(text, id);
    this.#bySchema.set(schema, id);
    return id;
  }

  /** The schema as JSON, with its subschemas replaced by their numbers. */
  #textOf(schema: Schema): string {
    if (typeof schema === "boolean") return String(schema);
    const keywords = Object.keys(schema)
      .filter((keyword) => !isAnnotation(keyword) && keyword !== "$defs")
      .toSorted();
    return JSON.stringify(
      keywords.map((keyword) => {
        const ids = childrenOf(keyword, schema[keyword]).map(([, child]) => this.idOf(child));
        if (keyword === "properties") return [keyword, Object.keys(propertiesOf(schema)), ids];
        return ids.length > 0 ? [keyword, ids] : [keyword, null, schema[keyword]];
      }),
    );
  }
}
