import { valueAt } from "@parley/contract/document";
import type { ApiDocument, Json, JsonObject } from "../sources.ts";
import { isObject } from "../try/schema.ts";

/** A member of a schema, with everything that a reader needs to know about it. */
export interface Member {
  readonly name: string;
  /** A fragment: the path of the member from the outermost schema. */
  readonly id: string;
  /** Its place in the contract, as clauses name it: a JSON Pointer. */
  readonly pointer: string;
  /** The type in words, such as `array of ChatMessage, or null`. */
  readonly type: string;
  readonly isRequired: boolean;
  /** Bounds and the like, as Markdown. */
  readonly facts: readonly string[];
  readonly description: string;
  /** The members inside, and of an alternative, the members of each alternative. */
  readonly children: readonly Member[];
}

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** A schema behind its reference, and the name of the reference. Members beside `$ref` add to the target. */
interface Resolved {
  readonly schema: JsonObject;
  readonly name?: string;
}

export function resolve(contract: ApiDocument, schema: JsonObject): Resolved {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== "string") return { schema };
  const target = valueAt(contract, $ref.slice(1));
  if (!isObject(target as Json | undefined)) throw new Error(`The contract has nothing at ${$ref}.`);
  // The line above has shown that it is an object.
  return { schema: { ...(target as JsonObject), ...rest }, name: $ref.split("/").at(-1) ?? "" };
}

/**
 * Returns the members of a schema.
 * @param prefix begins the fragments of the members
 * @param seen the names of the schemas around it, which end a recursion
 * @param pointer the place of the schema in the contract, if it is not a reference
 */
export function membersOf(
  contract: ApiDocument,
  outer: JsonObject,
  prefix: string,
  seen: readonly string[] = [],
  pointer = "",
): Member[] {
  const { schema, name } = resolve(contract, outer);
  if (name !== undefined && seen.includes(name)) return [];
  const deeper = name === undefined ? seen : [...seen, name];
  const own = name === undefined ? pointer : `/components/schemas/${name}`;
  if (isObject(schema["items"])) return membersOf(contract, schema["items"], `${prefix}[]`, deeper, `${own}/items`);
  const alternatives = list(schema["oneOf"]).filter(isObject);
  if (alternatives.length > 0) return alternativesOf(contract, alternatives, prefix, deeper);
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(list(schema["required"]));
  return Object.entries(properties).flatMap(([member, inner]) =>
    isObject(inner)
      ? [
          memberOf(contract, {
            name: member,
            outer: inner,
            prefix,
            isRequired: required.has(member),
            seen: deeper,
            pointer: `${own}/properties/${member}`,
          }),
        ]
      : [],
  );
}

interface Property {
  readonly name: string;
  readonly outer: JsonObject;
  readonly prefix: string;
  readonly isRequired: boolean;
  readonly seen: readonly string[];
  readonly pointer: string;
}

function memberOf(contract: ApiDocument, { name, outer, prefix, isRequired, seen, pointer }: Property): Member {
  const { schema } = resolve(contract, outer);
  const id = prefix === "" ? name : `${prefix}.${name}`;
  return {
    name,
    id,
    pointer,
    type: typeOf(contract, outer),
    isRequired,
    facts: factsOf(contract, schema),
    description: text(schema["description"]),
    children: membersOf(contract, outer, id, seen, pointer),
  };
}

/**
 * Returns the alternatives that have members, each as a member whose name tells it from the others. If only one has
 * members, it returns these members.
 */
function alternativesOf(
  contract: ApiDocument,
  schemas: readonly JsonObject[],
  prefix: string,
  seen: readonly string[],
): Member[] {
  const withMembers = schemas.filter((outer) => membersOf(contract, outer, prefix, seen).length > 0);
  const [single, second] = withMembers;
  if (single && !second) return membersOf(contract, single, prefix, seen);
  return withMembers.map((outer) => {
    const { schema, name } = resolve(contract, outer);
    const label = name ?? typeOf(contract, outer);
    const id = `${prefix}(${label})`;
    const children = membersOf(contract, outer, id, seen);
    const alternative = {
      name: label,
      id,
      pointer: `/components/schemas/${label}`,
      type: "alternative",
      isRequired: false,
      facts: [],
    };
    return { ...alternative, description: text(schema["description"]), children };
  });
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value.trim() : "");

/** Returns the type of a schema in words. */
export function typeOf(contract: ApiDocument, outer: JsonObject): string {
  const { schema, name } = resolve(contract, outer);
  const alternatives = list(schema["oneOf"]).filter(isObject);
  const isNamedObject = name !== undefined && schema["type"] === "object";
  if (alternatives.length > 0 && !isNamedObject) return alternatives.map((one) => typeOf(contract, one)).join(" or ");
  const types = [schema["type"]].flat().filter((one) => typeof one === "string");
  const words = types.map((type) => {
    if (type === "array" && isObject(schema["items"])) return `array of ${typeOf(contract, schema["items"])}`;
    return type === "object" && name !== undefined ? name : type;
  });
  return words.join(" or ") || "any";
}

const plural = (count: Json, unit: string): string =>
  `${Number(count).toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`;

/** Shows a value of the contract, a string without its quotation marks. */
const shown = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The bounds of a schema: pairs of keywords for the least and the most of a unit. */
const ranges: readonly (readonly [min: string, max: string, unit: string])[] = [
  ["minLength", "maxLength", "character"],
  ["minItems", "maxItems", "item"],
  ["minProperties", "maxProperties", "member"],
];

/** A longer example says less than the description. */
const maxExampleCharacters = 40;

/** Returns a character as patterns write it, because some set the direction of the text after them. */
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

function factsOf(contract: ApiDocument, outer: JsonObject): string[] {
  const { schema } = resolve(contract, outer);
  const facts: string[] = [];
  const values = list(schema["enum"]).map((value) => `\`${shown(value)}\``);
  if (values.length > 0) facts.push(`${values.length === 1 ? "always" : "one of"} ${values.join(", ")}`);
  const [least, most, above] = [schema["minimum"], schema["maximum"], schema["exclusiveMinimum"]];
  if (above !== undefined) facts.push(`above ${shown(above)}`);
  if (least !== undefined && most !== undefined) facts.push(`${shown(least)} to ${shown(most)}`);
  else if (least !== undefined) facts.push(`at least ${shown(least)}`);
  else if (most !== undefined) facts.push(`at most ${shown(most)}`);
  for (const [min, max, unit] of ranges) {
    if (schema[min] !== undefined) facts.push(`at least ${plural(schema[min], unit)}`);
    if (schema[max] !== undefined) facts.push(`at most ${plural(schema[max], unit)}`);
  }
  if (typeof schema["pattern"] === "string")
    facts.push(`matches \`${schema["pattern"].replaceAll(/[^ -~]/g, escapeUnit)}\``);
  if (typeof schema["format"] === "string") facts.push(`format ${schema["format"]}`);
  if (typeof schema["x-model-limit"] === "string") facts.push(`the model's \`${schema["x-model-limit"]}\` lowers it`);
  if (schema["x-ignored"] !== undefined) facts.push("accepted, without effect");
  if (schema["x-may-grow"] === true) facts.push("a later version may add values");
  if (typeof schema["x-error-code"] === "string") facts.push(`otherwise \`${schema["x-error-code"]}\``);
  const isShort = (value: Json): boolean => typeof value !== "object" && shown(value).length <= maxExampleCharacters;
  const example = list(schema["examples"]).find((value) => isShort(value) && shown(value).trim() !== "");
  if (example !== undefined) facts.push(`for example \`${shown(example)}\``);
  const items = schema["items"];
  if (isObject(items)) facts.push(...factsOf(contract, items).map((fact) => `each: ${fact}`));
  return facts;
}
