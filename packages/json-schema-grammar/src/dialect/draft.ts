import { isObject } from "./raw-schema.ts";
import type { Schema } from "./raw-schema.ts";

/** The drafts of JSON Schema, by number or year. */
export type Draft = 4 | 6 | 7 | 2019 | 2020;

const named: readonly (readonly [path: string, Draft])[] = [
  ["json-schema.org/draft-04/schema", 4],
  ["json-schema.org/draft-06/schema", 6],
  ["json-schema.org/draft-07/schema", 7],
  ["json-schema.org/draft/2019-09/schema", 2019],
  ["json-schema.org/draft/2020-12/schema", 2020],
];

/** Returns the draft that `$schema` names. Undefined if it names none: then the spellings of all drafts are valid. */
export function draftOf(root: Schema): Draft | undefined {
  const uri = isObject(root) ? root["$schema"] : undefined;
  if (typeof uri !== "string") return undefined;
  const path = uri.replace(/^https?:\/\//, "").replace(/#$/, "");
  return named.find(([known]) => known === path)?.[1];
}
