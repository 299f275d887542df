import type { LiteralValidator } from "./literal-validator.ts";
import type { Flat } from "./alternatives.ts";
import { asConjunction, memberConjunction, namedTypes, propertiesOf, requiredOf, typeOf } from "./schema-node.ts";
import type { Conjunction, JsonType, SchemaObject } from "./schema-node.ts";

/**
 * What a grammar can write down directly: one alternative of a value, with the rules of what is inside it.
 * A rule is a number, so that a recursive schema becomes recursive rules.
 */
export type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "literal"; readonly value: unknown }
  | { readonly kind: "scalar"; readonly type: "string" | "number" | "integer" | "boolean" | "null" }
  | { readonly kind: "array"; readonly item: number }
  /** `rest`: the rule of members with any name; only where no name is declared. */
  | { readonly kind: "object"; readonly members: readonly Member[]; readonly rest: number | undefined };

export interface Member {
  readonly name: string;
  readonly rule: number;
  readonly isRequired: boolean;
}

/** What the first character of a JSON text tells about its value. */
export const kinds = ["object", "array", "string", "number", "boolean", "null"] as const;
export type Kind = (typeof kinds)[number];

export function kindOf(value: unknown): Kind {
  const type = typeOf(value);
  return type === "integer" ? "number" : type;
}

export type RuleOf = (conjunction: Conjunction) => number;

/** The shapes that satisfy all of the schemas; none when nothing can. */
export function shapesOf(flat: Flat, ruleOf: RuleOf, judge: LiteralValidator): Shape[] {
  const schemas = [...flat];
  const literals = literalsOf(schemas);
  if (literals) {
    return literals
      .filter((value) => schemas.every((schema) => judge.acceptsAlone(schema, value)))
      .map((value) => ({ kind: "literal", value }));
  }
  const types = typesOf(schemas);
  if (types === undefined && !schemas.some(constrainsInside)) return [{ kind: "any" }];
  return [...(types ?? kinds)].map((type) => shapeOfType(type, schemas, ruleOf));
}

const constrainsInside = (schema: SchemaObject): boolean =>
  ["properties", "required", "additionalProperties", "items"].some((keyword) => Object.hasOwn(schema, keyword));

function shapeOfType(type: JsonType, schemas: SchemaObject[], ruleOf: RuleOf): Shape {
  if (type === "object") return objectShape(schemas, ruleOf);
  if (type !== "array") return { kind: "scalar", type };
  return { kind: "array", item: ruleOf(schemas.flatMap((schema) => asConjunction(schema["items"]))) };
}

function objectShape(schemas: SchemaObject[], ruleOf: RuleOf): Shape {
  const required = new Set(schemas.flatMap(requiredOf));
  const declared = schemas.flatMap((schema) => Object.keys(propertiesOf(schema)));
  const members = [...new Set([...declared, ...required])].map((name) => ({
    name,
    rule: ruleOf(schemas.flatMap((schema) => memberConjunction(schema, name))),
    isRequired: required.has(name),
  }));
  // Further names are written only where none is declared: a repeated name would override the declared one.
  const others = (): number => ruleOf(schemas.flatMap((schema) => asConjunction(schema["additionalProperties"])));
  return { kind: "object", members, rest: members.length === 0 ? others() : undefined };
}

/** The values that `enum` and `const` name, or undefined when neither is there. */
function literalsOf(schemas: SchemaObject[]): unknown[] | undefined {
  for (const schema of schemas) {
    if (Object.hasOwn(schema, "const")) return [schema["const"]];
    if (Array.isArray(schema["enum"])) return schema["enum"];
  }
  return undefined;
}

/** The types that every schema allows, or undefined when none names one. */
function typesOf(schemas: SchemaObject[]): Set<JsonType> | undefined {
  let left: Set<JsonType> | undefined;
  for (const schema of schemas) {
    const types = namedTypes(schema);
    if (types === undefined) continue;
    const named = new Set(types);
    left = left === undefined ? named : intersectTypes(left, named);
  }
  if (left?.has("number")) left.delete("integer");
  return left;
}

function intersectTypes(a: Set<JsonType>, b: Set<JsonType>): Set<JsonType> {
  const both = new Set([...a].filter((type) => b.has(type)));
  if ((a.has("integer") && b.has("number")) || (a.has("number") && b.has("integer"))) both.add("integer");
  if (a.has("number") && b.has("number")) both.delete("integer");
  return both;
}
