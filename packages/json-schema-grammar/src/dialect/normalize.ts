import { ExactNumber, isJsonNumber } from "../json/exact-number.ts";
import { isSchema } from "./raw-schema.ts";
import type { JsonType } from "./raw-schema.ts";
import type { Keywords, SchemaNode } from "./schema-node.ts";

/** Names a subschema. @param step its path below this schema */
export type ChildOf = (value: unknown, step: string) => SchemaNode;

/** Returns the keywords of one schema in the spelling of draft 2020-12. @param words known to the draft, with valid values */
export function normalize(
  words: ReadonlyMap<string, unknown>,
  childOf: ChildOf,
  refer: (ref: string) => SchemaNode,
  refuse: (keyword: string, reason: string) => never,
): Keywords {
  const keywords: Keywords = {};
  const context: Context = { keywords, words, childOf, refuse };
  for (const [word, value] of words) {
    // Each reader below takes a value that the keyword's check has accepted.
    if (word === "$ref") keywords.$ref = refer(value as string);
    // A count beyond the range of a double is larger than every length.
    else if (counts.has(word))
      Object.assign(keywords, { [word]: value instanceof ExactNumber ? Number(value.text) : value });
    else if (copied.has(word)) Object.assign(keywords, { [word]: value });
    else if (subschema.has(word)) Object.assign(keywords, { [word]: childOf(value, word) });
    else if (lists.has(word)) Object.assign(keywords, { [word]: readList(value, word, childOf) });
    else if (maps.has(word)) Object.assign(keywords, { [word]: readMap(value, word, childOf) });
    else readers[word]?.(value, context);
  }
  return keywords;
}

interface Context {
  readonly keywords: Keywords;
  readonly words: ReadonlyMap<string, unknown>;
  readonly childOf: ChildOf;
  readonly refuse: (keyword: string, reason: string) => never;
}

const copied = new Set("minimum maximum multipleOf pattern format required uniqueItems".split(" "));
const counts = new Set(
  "minLength maxLength minProperties maxProperties minContains maxContains minItems maxItems".split(" "),
);
const subschema = new Set(["additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"]);
const lists = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const maps = new Set(["properties", "patternProperties"]);
/** The keywords that apply further schemas to the same value. */
const applicators = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"];

const readList = (value: unknown, word: string, childOf: ChildOf): SchemaNode[] =>
  (value as unknown[]).map((item, index) => childOf(item, `${word}[${index}]`));

const readMap = (value: unknown, word: string, childOf: ChildOf): Map<string, SchemaNode> =>
  new Map(Object.entries(value as object).map(([name, item]) => [name, childOf(item, `${word}.${name}`)]));

/** The keywords that have several spellings. */
const readers: Readonly<Record<string, (value: unknown, context: Context) => void>> = {
  type: (value, { keywords }) => {
    keywords.type = (Array.isArray(value) ? value : [value]) as JsonType[];
  },
  enum: (value, { keywords }) => {
    keywords.literals = [...(keywords.literals ?? []), value as unknown[]];
  },
  const: (value, { keywords }) => {
    keywords.literals = [...(keywords.literals ?? []), [value]];
  },
  exclusiveMinimum: (value, { keywords, words }) => {
    const bound = value === true ? words.get("minimum") : value;
    if (isJsonNumber(bound)) keywords.exclusiveMinimum = bound;
  },
  exclusiveMaximum: (value, { keywords, words }) => {
    const bound = value === true ? words.get("maximum") : value;
    if (isJsonNumber(bound)) keywords.exclusiveMaximum = bound;
  },
  items: (value, { keywords, words, childOf }) => {
    if (isSchema(value)) keywords.items = childOf(value, "items");
    else {
      keywords.prefixItems = readList(value, "items", childOf);
      if (words.has("additionalItems")) keywords.items = childOf(words.get("additionalItems"), "additionalItems");
    }
  },
  dependentRequired: (value, { keywords }) => {
    keywords.dependentRequired = new Map([
      ...(keywords.dependentRequired ?? []),
      ...Object.entries(value as Record<string, string[]>),
    ]);
  },
  dependentSchemas: (value, { keywords, childOf }) => {
    keywords.dependentSchemas = new Map([
      ...(keywords.dependentSchemas ?? []),
      ...readMap(value, "dependentSchemas", childOf),
    ]);
  },
  unevaluatedProperties: (value, context) => {
    const { keywords, words, childOf } = context;
    refuseBesideApplicators("unevaluatedProperties", value, context);
    if (!words.has("additionalProperties")) keywords.additionalProperties = childOf(value, "unevaluatedProperties");
  },
  unevaluatedItems: (value, context) => {
    const { keywords, words, childOf } = context;
    refuseBesideApplicators("unevaluatedItems", value, context);
    const isOpen = Array.isArray(words.get("items")) ? !words.has("additionalItems") : !words.has("items");
    if (isOpen) keywords.items = childOf(value, "unevaluatedItems");
  },
  $dynamicRef: (_value, { refuse }) =>
    refuse("$dynamicRef", `the keyword "$dynamicRef" cannot be enforced: use "$ref"`),
  $recursiveRef: (_value, { refuse }) =>
    refuse("$recursiveRef", `the keyword "$recursiveRef" cannot be enforced: use "$ref"`),
  dependencies: (value, { keywords, childOf }) => {
    const entries = Object.entries(value as object);
    const names = entries.filter(([, needed]) => Array.isArray(needed));
    const schemas = entries.filter(([, needed]) => !Array.isArray(needed));
    keywords.dependentRequired = new Map([...(keywords.dependentRequired ?? []), ...names]);
    keywords.dependentSchemas = new Map([
      ...(keywords.dependentSchemas ?? []),
      ...schemas.map(([name, needed]) => [name, childOf(needed, `dependencies.${name}`)] as const),
    ]);
  },
};

/** If other schemas apply to the same value, its unevaluated members depend on which of them it satisfies. */
function refuseBesideApplicators(keyword: string, value: unknown, { words, refuse }: Context): void {
  const hasContains = keyword === "unevaluatedItems" && words.has("contains");
  const other = applicators.find((word) => words.has(word)) ?? (hasContains ? "contains" : undefined);
  if (value === true || other === undefined) return;
  refuse(keyword, `the keyword "${keyword}" cannot be enforced beside "${other}": declare all members in one schema`);
}
