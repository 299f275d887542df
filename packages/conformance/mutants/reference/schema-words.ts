import { valueAt, isRecord, listAt } from "../../src/judge/read.ts";

/** A word of a schema that is not enforced. */
export interface SchemaWord {
  readonly path: string;
  readonly word: string;
  /** A keyword of JSON Schema. Any other word is an annotation. */
  readonly isUnenforceable: boolean;
}

const known = new Set(
  "type properties required additionalProperties items enum const anyOf minimum exclusiveMaximum format minLength maxLength pattern uniqueItems $dynamicRef $defs $ref $schema $id $comment title description default examples deprecated".split(
    " ",
  ),
);

/** The words without effect in a schema and its subschemas, for the words that the suite sends. */
export function wordsIn(schema: unknown, path = ""): SchemaWord[] {
  if (!isRecord(schema)) return [];
  const own = Object.keys(schema).flatMap((word): SchemaWord[] => {
    const isUnenforceable = word === "uniqueItems" || word === "$dynamicRef" || isRepeating(word, schema[word]);
    return isUnenforceable || !known.has(word) ? [{ path: join(path, word), word, isUnenforceable }] : [];
  });
  const inner = [
    ...["properties", "$defs"].flatMap((name) =>
      Object.entries(Object(schema[name])).map(([key, child]) => [`${name}.${key}`, child] as const),
    ),
    ...["items", "additionalProperties"].map((name) => [name, schema[name]] as const),
    ...listAt(schema, "/anyOf").map((child, index) => [`anyOf[${index}]`, child] as const),
  ];
  return [...own, ...inner.flatMap(([step, child]) => wordsIn(child, join(path, step)))];
}

/** The paths of such words in the schemas of a request that are enforced. */
export function ignoredWords(body: unknown): string[] {
  const place = "response_format.json_schema.schema";
  const answer = valueAt(body, "/response_format/json_schema/schema");
  const choice = valueAt(body, "/tool_choice");
  const tools = listAt(body, "/tools").flatMap((tool, index) => {
    const isHeld =
      choice === "required" ||
      valueAt(tool, "/function/strict") === true ||
      valueAt(choice, "/function/name") === valueAt(tool, "/function/name");
    const words = isHeld ? wordsIn(valueAt(tool, "/function/parameters")) : [];
    return words.map(({ path }) => `tools[${index}].function.parameters.${path}`);
  });
  return [...tools, ...wordsIn(answer).map(({ path }) => `${place}.${path}`)];
}

/** A pattern that compares a part of the text with another one. */
const isRepeating = (word: string, value: unknown): boolean => word === "pattern" && String(value).includes("\\1");

const join = (path: string, step: string): string => (path === "" ? step : `${path}.${step}`);
