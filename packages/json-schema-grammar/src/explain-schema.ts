import { compileSchema } from "./compile-schema.ts";
import { draftOf } from "./dialect/draft.ts";
import { keywordOf, subschemasOf } from "./dialect/keywords.ts";
import { isSchema } from "./dialect/raw-schema.ts";
import type { Schema } from "./dialect/raw-schema.ts";
import type { SchemaWord } from "./dialect/schema-node.ts";
import type { SchemaFault } from "./schema-fault.ts";

/** Describes for people which parts of a schema are enforced. */
export interface SchemaReport {
  /** The names of its keywords that are enforced everywhere, in document order. */
  readonly enforced: readonly string[];
  /** Every keyword that cannot be enforced where it stands. */
  readonly unenforced: readonly SchemaFault[];
  /** Members that are not keywords. */
  readonly annotations: readonly SchemaWord[];
  /** The reason why there is no grammar, even without those keywords; undefined if there is one. */
  readonly fault: SchemaFault | undefined;
}

/**
 * Reports which keywords of a schema a grammar enforces. It does not throw.
 * @param isObject the value must also be an object, as the arguments of a function are
 */
export function explainSchema(
  schema: boolean | object,
  { isObject = false }: { readonly isObject?: boolean } = {},
): SchemaReport {
  const compiled = compileSchema(schema, { isLenient: true, isObject });
  const fault = "fault" in compiled ? compiled.fault : compiled.unenforced.find(({ path }) => path === "");
  if (fault || "fault" in compiled || !isSchema(schema))
    return { enforced: [], unenforced: [], annotations: [], fault };
  const { unenforced, annotations } = compiled;
  const left = new Set(unenforced.map(({ keyword }) => keyword));
  const enforced = [...keywordsIn(schema)].filter((keyword) => !left.has(keyword));
  return { enforced, unenforced, annotations, fault: undefined };
}

/** The names of all keywords that constrain values, in document order. A document may nest deeper than the call stack. */
function keywordsIn(root: Schema): Set<string> {
  const found = new Set<string>();
  const seen = new Set<Schema>();
  const draft = draftOf(root);
  const open = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "boolean" || seen.has(next)) continue;
    seen.add(next);
    for (const word of Object.keys(next)) {
      const keyword = keywordOf(word, draft);
      if (keyword && keyword.isAnnotation !== true) found.add(word);
    }
    for (const child of subschemasOf(next).toReversed()) open.push(child);
  }
  return found;
}
