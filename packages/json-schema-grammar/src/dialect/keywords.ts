import { ExactNumber, compareNumbers, isInteger, isJsonNumber } from "../json/exact-number.ts";
import type { JsonNumber } from "../json/exact-number.ts";
import type { Draft } from "./draft.ts";
import { isJsonType, isObject, isSchema } from "./raw-schema.ts";
import type { Schema, SchemaObject } from "./raw-schema.ts";

/** The definition of one keyword of JSON Schema. */
export interface Keyword {
  /** The first and the last draft that has it. */
  readonly since?: Draft;
  readonly until?: Draft;
  readonly isValid: (value: unknown) => boolean;
  /** True for an annotation, which describes a schema and does not constrain values. */
  readonly isAnnotation?: boolean;
}

const isAny = (): boolean => true;
const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): value is JsonNumber => isJsonNumber(value) && isWritable(value);
const isCount = (value: unknown): boolean => isNumber(value) && isInteger(value) && compareNumbers(value, 0) >= 0;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isSchemas = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isMapOf =
  (isValid: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    isObject(value) && Object.values(value).every(isValid);

const isTypes = (value: unknown): boolean =>
  isJsonType(value) || (Array.isArray(value) && value.length > 0 && value.length <= 7 && value.every(isJsonType));

/** Checks if JSON can hold a value: it cannot hold infinite numbers and big integers. */
function isWritable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "string" || typeof value === "boolean";
  return value === null || value instanceof ExactNumber || Object.values(value).every(isWritable);
}

const annotation: Keyword = { isValid: isAny, isAnnotation: true };

const keywords: Readonly<Record<string, Keyword>> = {
  type: { isValid: isTypes },
  enum: { isValid: (value) => Array.isArray(value) && value.length > 0 && isWritable(value) },
  const: { isValid: isWritable, since: 6 },

  minimum: { isValid: isNumber },
  maximum: { isValid: isNumber },
  exclusiveMinimum: { isValid: (value) => isNumber(value) || typeof value === "boolean" },
  exclusiveMaximum: { isValid: (value) => isNumber(value) || typeof value === "boolean" },
  multipleOf: { isValid: (value) => isNumber(value) && compareNumbers(value, 0) > 0 },

  minLength: { isValid: isCount },
  maxLength: { isValid: isCount },
  pattern: { isValid: isText },
  format: { isValid: isText },

  properties: { isValid: isMapOf(isSchema) },
  patternProperties: { isValid: isMapOf(isSchema) },
  additionalProperties: { isValid: isSchema },
  unevaluatedProperties: { isValid: isSchema, since: 2019 },
  propertyNames: { isValid: isSchema, since: 6 },
  required: { isValid: isTexts },
  minProperties: { isValid: isCount },
  maxProperties: { isValid: isCount },
  dependentRequired: { isValid: isMapOf(isTexts), since: 2019 },
  dependentSchemas: { isValid: isMapOf(isSchema), since: 2019 },
  dependencies: { isValid: isMapOf((value) => isTexts(value) || isSchema(value)) },

  items: { isValid: (value) => isSchema(value) || (Array.isArray(value) && value.every(isSchema)) },
  prefixItems: { isValid: isSchemas, since: 2020 },
  additionalItems: { isValid: isSchema },
  unevaluatedItems: { isValid: isSchema, since: 2019 },
  contains: { isValid: isSchema, since: 6 },
  minContains: { isValid: isCount, since: 2019 },
  maxContains: { isValid: isCount, since: 2019 },
  minItems: { isValid: isCount },
  maxItems: { isValid: isCount },
  uniqueItems: { isValid: (value) => typeof value === "boolean" },

  allOf: { isValid: isSchemas },
  anyOf: { isValid: isSchemas },
  oneOf: { isValid: isSchemas },
  not: { isValid: isSchema },
  ...Object.fromEntries(["if", "then", "else"].map((word) => [word, { isValid: isSchema, since: 7 } as const])),

  $ref: { isValid: isText },
  $dynamicRef: { isValid: isText, since: 2020 },
  $recursiveRef: { isValid: isText, since: 2019, until: 2019 },
  $defs: { isValid: isMapOf(isAny), isAnnotation: true },
  definitions: { isValid: isMapOf(isAny), isAnnotation: true },
  $id: { isValid: isText, since: 6, isAnnotation: true },
  id: { isValid: isText, until: 4, isAnnotation: true },
  $anchor: { isValid: isText, since: 2019, isAnnotation: true },
  $dynamicAnchor: annotation,
  $recursiveAnchor: annotation,
  $vocabulary: annotation,
  $schema: annotation,
  $comment: annotation,
  title: annotation,
  description: annotation,
  default: annotation,
  examples: annotation,
  deprecated: annotation,
  readOnly: annotation,
  writeOnly: annotation,
  contentEncoding: annotation,
  contentMediaType: annotation,
  contentSchema: annotation,
};

/** Returns the keyword with this name, or undefined if the draft has none. */
export function keywordOf(name: string, draft: Draft | undefined): Keyword | undefined {
  const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
  if (draft === undefined || keyword === undefined) return keyword;
  return (keyword.since ?? 4) <= draft && draft <= (keyword.until ?? 2020) ? keyword : undefined;
}

const refused: ReadonlySet<string> = new Set(["$dynamicRef", "$recursiveRef"]);

/** The keywords that decide which values are valid, in the spellings of all drafts, and that a grammar can enforce. */
export const enforcedKeywords: readonly string[] = Object.entries(keywords)
  .filter(([word, keyword]) => keyword.isAnnotation !== true && !refused.has(word))
  .map(([word]) => word);

/** The keywords that describe a schema and do not constrain values. */
export const annotationKeywords: readonly string[] = Object.entries(keywords)
  .filter(([, keyword]) => keyword.isAnnotation === true)
  .map(([word]) => word);

const holders = [
  "additionalProperties unevaluatedProperties propertyNames",
  "items prefixItems additionalItems unevaluatedItems contains",
  "allOf anyOf oneOf not if then else",
];
/** The keywords whose value is a subschema or a list of them. */
const schemaHolders: ReadonlySet<string> = new Set(holders.join(" ").split(" "));

const mapHolders = "properties patternProperties dependentSchemas dependencies $defs definitions";
/** The keywords whose value holds subschemas by name. */
const schemaMaps: ReadonlySet<string> = new Set(mapHolders.split(" "));

/** Returns the subschemas directly below a schema in document order, including definitions. */
export function subschemasOf(schema: SchemaObject): Schema[] {
  return Object.entries(schema).flatMap(([word, value]) => {
    if (schemaMaps.has(word) && isObject(value)) return Object.values(value).filter(isSchema);
    return schemaHolders.has(word) ? [value].flat().filter(isSchema) : [];
  });
}
