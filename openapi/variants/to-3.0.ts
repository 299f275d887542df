import { valueAt } from "@parley/contract/document";
import type { Json, JsonObject } from "@parley/contract/document";

/**
 * Translates the contract to OpenAPI 3.0.3, for tools that do not read newer versions. It means the same, except for
 * `lostIn30`. Only keywords that the contract uses are translated. A test compares the verdicts of both versions.
 */
export function to30(contract: JsonObject): JsonObject {
  const translated = new Translation(contract).document();
  const { summary: _summary, license, ...info } = objectAt(translated, "/info");
  return { ...translated, openapi: "3.0.3", info: { ...info, license: licenseWithUrl(license) } };
}

/** 3.0 has no member for the identifier of a licence, so the URL of its page is used. */
function licenseWithUrl(license: Json | undefined): JsonObject {
  const { name = "", identifier } = isObject(license) ? license : {};
  if (typeof identifier !== "string") throw new Error("the contract's licence has no identifier");
  return { name, url: `https://spdx.org/licenses/${identifier}.html` };
}

/** Rules that 3.0 cannot express. The clauses and the server still have them. */
export const lostIn30 = {
  keywords: ["propertyNames", "contentMediaType", "contentSchema"],
  /** In 3.0, a union with a discriminator cannot be null. Leave the member out instead. */
  nulls: ["response_format"],
} as const;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function objectAt(document: JsonObject, pointer: string): JsonObject {
  const found = valueAt(document, pointer) as Json | undefined; // what a JSON value holds is JSON
  if (!isObject(found)) throw new Error(`the contract has no object at ${pointer}`);
  return found;
}

/** The members of these objects have names of the contract, so the names are not keywords. */
const maps = new Set(["properties", "schemas", "mapping", "examples"]);
/** Data, not schemas. */
const isVerbatim = (name: string): boolean => ["example", "value", "enum"].includes(name) || name.startsWith("x-");

class Translation {
  readonly #contract: JsonObject;
  /** Components that only this version has: nullable copies of schemas that 3.1 makes nullable where they are used. */
  readonly #nullables = new Map<string, JsonObject>();

  constructor(contract: JsonObject) {
    this.#contract = contract;
  }

  document(): JsonObject {
    const document = this.#members(this.#contract);
    const components = objectAt(document, "/components");
    const schemas = { ...objectAt(components, "/schemas"), ...Object.fromEntries(this.#nullables) };
    return { ...document, components: { ...components, schemas } };
  }

  #translate(node: Json, name: string): Json {
    if (isVerbatim(name)) return node;
    if (Array.isArray(node)) return node.map((item) => this.#translate(item, ""));
    if (!isObject(node)) return node;
    if (maps.has(name)) return this.#members(node);
    // 3.0 ignores every member besides a `$ref`.
    if (node["$ref"] !== undefined) return { $ref: node["$ref"] };
    return this.#members(withChunks(withoutLost(withExample(withExclusiveMinimum(this.#nullable(node))))));
  }

  #members(node: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, this.#translate(value, name)]));
  }

  /** `null` with other types becomes `nullable`. In a union, its first other branch becomes nullable. */
  #nullable(schema: JsonObject): JsonObject {
    const { type, oneOf, ...rest } = schema;
    if (Array.isArray(type)) return { type: type[0] ?? "string", nullable: true, ...rest };
    if (!Array.isArray(oneOf)) return schema;
    const [first, ...others] = oneOf.filter((branch) => !isObject(branch) || branch["type"] !== "null");
    if (others.length + 1 === oneOf.length || !isObject(first)) return schema;
    if (others.length === 0) return this.#nullableBranch(first);
    return { ...rest, oneOf: [this.#nullableBranch(first), ...others].flatMap(branchesOf) };
  }

  #nullableBranch(branch: JsonObject): JsonObject {
    const { $ref } = branch;
    if (typeof $ref !== "string") throw new Error("a union that may be null has a branch without a name");
    const name = $ref.replace("#/components/schemas/", "");
    const schema = objectAt(this.#contract, `/components/schemas/${name}`);
    if (schema["discriminator"] !== undefined) return branch;
    if (Array.isArray(schema["oneOf"])) return this.#nullable({ oneOf: [...schema["oneOf"], { type: "null" }] });
    const { enum: values, ...rest } = schema;
    const withNull = Array.isArray(values) ? { enum: [...values, null] } : {};
    this.#nullables.set(`Nullable${name}`, this.#members({ ...rest, ...withNull, nullable: true }));
    return { $ref: `#/components/schemas/Nullable${name}` };
  }
}

/** A union inside a union means the same as its branches. */
const branchesOf = (branch: Json): Json[] =>
  isObject(branch) && Array.isArray(branch["oneOf"]) ? branch["oneOf"] : [branch];

function withoutLost(schema: JsonObject): JsonObject {
  const lost: readonly string[] = lostIn30.keywords;
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !lost.includes(name)));
}

function withExample({ examples, ...rest }: JsonObject): JsonObject {
  if (!Array.isArray(examples)) return examples === undefined ? rest : { ...rest, examples };
  return { ...rest, example: examples[0] ?? null };
}

function withExclusiveMinimum(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, ...rest } = schema;
  return exclusiveMinimum === undefined ? schema : { ...rest, minimum: exclusiveMinimum, exclusiveMinimum: true };
}

/** Tools for 3.0 accept one schema for the events of a stream. It is the chunk; the error event is the schema `StreamError`. */
function withChunks(node: JsonObject): JsonObject {
  const stream = node["text/event-stream"];
  if (!isObject(stream)) return node;
  const { examples, ...rest } = stream;
  const chunks = Object.entries(isObject(examples) ? examples : {}).filter(([name]) => name !== "error");
  const schema = { $ref: "#/components/schemas/ChatCompletionChunk" };
  return { ...node, "text/event-stream": { ...rest, schema, examples: Object.fromEntries(chunks) } };
}
