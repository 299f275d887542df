import { childrenOf, isAnnotation, isJsonType, isSchema, isSchemaObject, refTarget } from "./schema-node.ts";
import type { Schema, SchemaObject } from "./schema-node.ts";

/** Why a schema cannot be enforced. `path` is relative to the schema, such as `properties.a.pattern`; empty for the root. */
export interface SchemaFault {
  readonly path: string;
  readonly keyword: string | null;
  readonly reason: string;
}

/** The largest number of subschemas, of characters in names and literals, and of levels in one schema. */
export const schemaBounds = { subschemas: 5000, characters: 120_000, levels: 128 } as const;

const isWellFormed: Record<string, (value: unknown) => boolean> = {
  type: (value) =>
    Array.isArray(value) ? value.length > 0 && value.length <= 7 && value.every(isJsonType) : isJsonType(value),
  properties: (value) => isSchemaObject(value) && Object.values(value).every(isSchema),
  required: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  additionalProperties: isSchema,
  items: isSchema,
  enum: (value) => Array.isArray(value) && value.length > 0 && isWritable(value),
  const: isWritable,
  anyOf: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  allOf: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  $defs: (value) => isSchemaObject(value) && Object.values(value).every(isSchema),
  $ref: (value) => typeof value === "string",
};

/** JavaScript parses a number like 1e400 as infinity, which JSON cannot represent. */
function isWritable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isWritable);
}

interface Walk {
  readonly root: Schema;
  readonly visited: Map<SchemaObject, string>;
  subschemas: number;
  characters: number;
}

/** The first keyword, in document order, that a grammar cannot enforce, or undefined. */
export function findUnenforceable(root: Schema): SchemaFault | undefined {
  const walk: Walk = { root, visited: new Map(), subschemas: 0, characters: 0 };
  return visit(root, "", 0, walk) ?? findStrayRef(walk) ?? findCircularRef(walk);
}

function visit(schema: Schema, path: string, level: number, walk: Walk): SchemaFault | undefined {
  walk.subschemas += 1;
  if (typeof schema === "boolean") return undefined;
  if (level > schemaBounds.levels) return tooLarge(path);
  walk.visited.set(schema, path);
  for (const [keyword, value] of Object.entries(schema)) {
    if (isAnnotation(keyword)) continue;
    const at = join(path, keyword);
    const fault = checkKeyword(keyword, value, at, walk.root);
    if (fault) return fault;
    walk.characters += charactersOf(keyword, value);
    if (walk.subschemas > schemaBounds.subschemas || walk.characters > schemaBounds.characters) return tooLarge(at);
    for (const [step, child] of childrenOf(keyword, value)) {
      const inner = visit(child, at + step, level + 1, walk);
      if (inner) return inner;
    }
  }
  return undefined;
}

function checkKeyword(keyword: string, value: unknown, path: string, root: Schema): SchemaFault | undefined {
  const isValid = Object.hasOwn(isWellFormed, keyword) ? isWellFormed[keyword] : undefined;
  if (!isValid) return { path, keyword, reason: `the keyword "${keyword}" cannot be enforced` };
  if (!isValid(value)) return { path, keyword, reason: `the value of "${keyword}" is not valid JSON Schema` };
  if (keyword !== "$ref" || refTarget({ $ref: value }, root) !== undefined) return undefined;
  return { path, keyword, reason: `"$ref" points at nothing inside this schema` };
}

/** Every `$ref` must point at a subschema that has been checked, and be resolved from the root of this schema. */
function findStrayRef({ root, visited }: Walk): SchemaFault | undefined {
  let hasRef = false;
  for (const [schema, path] of visited) {
    const target = refTarget(schema, root);
    if (target === undefined) continue;
    hasRef = true;
    if (typeof target === "boolean" || visited.has(target)) continue;
    return { path: join(path, "$ref"), keyword: "$ref", reason: `"$ref" points at something that is no subschema` };
  }
  const renamed = [...visited].find(([schema]) => schema !== root && Object.hasOwn(schema, "$id"));
  if (!hasRef || !renamed) return undefined;
  const reason = `an "$id" below the root would change what "$ref" means`;
  return { path: join(renamed[1], "$id"), keyword: "$id", reason };
}

const mostReferences = 200;

/** A `$ref` that leads back to itself without a member or an item in between describes no value. */
function findCircularRef({ root, visited }: Walk): SchemaFault | undefined {
  const done = new Set<Schema>();
  const open = new Set<Schema>();
  const search = (schema: Schema): boolean => {
    if (typeof schema === "boolean" || done.has(schema)) return false;
    if (open.has(schema) || open.size > mostReferences) return true;
    open.add(schema);
    const isCircular = schemasOfSameValue(schema, root).some(search);
    open.delete(schema);
    done.add(schema);
    return isCircular;
  };
  for (const [schema, path] of visited) {
    if (!search(schema)) continue;
    const reason = `"$ref" leads back to itself, or over more than ${mostReferences} others`;
    return { path: join(path, "$ref"), keyword: "$ref", reason };
  }
  return undefined;
}

/** The schemas that apply to the same value as this one. */
function schemasOfSameValue(schema: SchemaObject, root: Schema): Schema[] {
  const target = refTarget(schema, root);
  const branches = ["anyOf", "allOf"].flatMap((keyword) =>
    childrenOf(keyword, schema[keyword]).map(([, child]) => child),
  );
  return target === undefined ? branches : [target, ...branches];
}

function charactersOf(keyword: string, value: unknown): number {
  if (keyword === "enum" || keyword === "const") return JSON.stringify(value).length;
  if (keyword === "required" && Array.isArray(value)) return value.join().length;
  return keyword === "properties" && isSchemaObject(value) ? Object.keys(value).join("").length : 0;
}

const join = (path: string, step: string): string => (path === "" ? step : `${path}.${step}`);

const tooLarge = (path: string): SchemaFault => ({
  path,
  keyword: null,
  reason:
    `the schema is too large to enforce (at most ${schemaBounds.subschemas} subschemas on ${schemaBounds.levels} levels ` +
    `and ${schemaBounds.characters} characters of names and literals)`,
});
