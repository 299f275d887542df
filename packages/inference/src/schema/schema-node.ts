/**
 * The part of JSON Schema (2020-12) that constrained decoding enforces, and functions that walk a schema. The contract
 * lists the keywords: a schema with any other keyword is refused, and the error names the keyword.
 */

export type Schema = boolean | SchemaObject;
export type SchemaObject = { readonly [keyword: string]: unknown };
export type JsonType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

/** Schemas that must all hold. An empty list allows any value. */
export type Conjunction = readonly Schema[];

const jsonTypes = new Set<unknown>(["object", "array", "string", "number", "boolean", "null", "integer"]);

const annotations = new Set([
  "$schema",
  "$id",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
]);

/** True for a keyword that has no influence on which values are valid. */
export const isAnnotation = (keyword: string): boolean => annotations.has(keyword);

export const isJsonType = (value: unknown): value is JsonType => jsonTypes.has(value);

export const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isSchemaObject(value);

/** The JSON Schema type of a JSON value, the narrowest one: 3 is an `integer`. */
export function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "object";
}

/** JSON with sorted member names, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    isSchemaObject(item) ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

/** The value of `properties`; empty where the keyword is absent. */
export const propertiesOf = (schema: SchemaObject): SchemaObject =>
  isSchemaObject(schema["properties"]) ? schema["properties"] : {};

/** The value of a keyword that takes one schema; empty where the keyword is absent. */
export const asConjunction = (value: unknown): Conjunction => (isSchema(value) ? [value] : []);

/** The schemas of `anyOf` or `allOf`; undefined where the keyword is absent. */
export function schemasOf(schema: SchemaObject, keyword: "anyOf" | "allOf"): readonly Schema[] | undefined {
  const value = schema[keyword];
  return Array.isArray(value) ? value.filter(isSchema) : undefined;
}

/** The names in `required`; empty where the keyword is absent. */
export function requiredOf({ required }: SchemaObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** The types in `type`; undefined where the keyword is absent. */
export function namedTypes({ type }: SchemaObject): readonly JsonType[] | undefined {
  return type === undefined ? undefined : (Array.isArray(type) ? type : [type]).filter(isJsonType);
}

/** The schema of one member of an object: its entry in `properties`, otherwise `additionalProperties`. */
export function memberConjunction(schema: SchemaObject, name: string): Conjunction {
  const properties = propertiesOf(schema);
  return asConjunction(Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"]);
}

/** The subschemas directly below a keyword, each with the rest of its path. */
export function childrenOf(keyword: string, value: unknown): (readonly [step: string, schema: Schema])[] {
  if (keyword === "items" || keyword === "additionalProperties") return isSchema(value) ? [["", value]] : [];
  if (keyword === "anyOf" || keyword === "allOf") {
    return Array.isArray(value) ? value.filter(isSchema).map((child, index) => [`[${index}]`, child] as const) : [];
  }
  if ((keyword !== "properties" && keyword !== "$defs") || !isSchemaObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) => (isSchema(child) ? [[`.${name}`, child] as const] : []));
}

/** The target of a schema's `$ref`, or undefined where it has none or the target does not exist. */
export function refTarget(schema: SchemaObject, root: Schema): Schema | undefined {
  return typeof schema["$ref"] === "string" ? resolveRef(root, schema["$ref"]) : undefined;
}

/** The target of a `$ref` inside its own document (`#`, or `#/` and a JSON Pointer), or undefined. */
export function resolveRef(root: Schema, ref: string): Schema | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const token of ref.slice(2).split("/")) {
    const step = decodePointerToken(token);
    if (step === undefined || typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return undefined;
    // The line above has proven that the member is there.
    node = (node as Record<string, unknown>)[step];
  }
  return isSchema(node) ? node : undefined;
}

function decodePointerToken(token: string): string | undefined {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined; // an invalid percent escape
  }
}
