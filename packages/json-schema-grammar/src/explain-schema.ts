import { ComplexityBudget } from "./complexity-budget.ts";
import { compileParameters, compileSchema } from "./compile-schema.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import { draftOf } from "./dialect/draft.ts";
import { keywordOf, schemaHolders, schemaMaps } from "./dialect/keywords.ts";
import { isObject, isSchema } from "./dialect/raw-schema.ts";
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
  /** Why there is no grammar at all, even without those keywords. */
  readonly fault: SchemaFault | undefined;
}

/** @param isParameters the schema is of a function, whose arguments are an object */
export function explainSchema(schema: Schema, isParameters = false): SchemaReport {
  const compile = isParameters ? compileParameters : compileSchema;
  const compiled: CompiledSchema = compile(schema, "value", new ComplexityBudget(), { isLenient: true });
  const fault = "fault" in compiled ? compiled.fault : compiled.unenforced.find(({ path }) => path === "");
  if (fault || "fault" in compiled) return { enforced: [], unenforced: [], annotations: [], fault };
  const { unenforced, annotations } = compiled;
  const left = new Set(unenforced.map(({ keyword }) => keyword));
  const enforced = [...keywordsIn(schema, schema)].filter((keyword) => !left.has(keyword));
  return { enforced, unenforced, annotations, fault: undefined };
}

function keywordsIn(schema: Schema, root: Schema, found = new Set<string>()): Set<string> {
  if (typeof schema === "boolean") return found;
  for (const [word, value] of Object.entries(schema)) {
    const keyword = keywordOf(word, draftOf(root));
    if (keyword && keyword.isAnnotation !== true) found.add(word);
    for (const child of childrenOf(word, value)) keywordsIn(child, root, found);
  }
  return found;
}

function childrenOf(word: string, value: unknown): Schema[] {
  if (schemaMaps.has(word) && isObject(value)) return Object.values(value).filter(isSchema);
  return schemaHolders.has(word) ? [value].flat().filter(isSchema) : [];
}
