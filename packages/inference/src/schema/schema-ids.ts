import { childrenOf, isAnnotation, propertiesOf } from "./schema-node.ts";
import type { Schema } from "./schema-node.ts";

/**
 * Numbers the schemas of one document so that equal ones, annotations aside, share a number: a schema that is written
 * out twice needs no second rule.
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

  /** JSON of the schema with its subschemas as numbers. */
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
