import type { LiteralValidator } from "./literal-validator.ts";
import type { ResolvedSchemas } from "./resolve-schemas.ts";
import { asConjunction, memberConjunction, namedTypes, propertiesOf, requiredOf, typeOf } from "./schema-node.ts";
import type { Conjunction, JsonType, SchemaObject } from "./schema-node.ts";

/**
 * One alternative of a value, in a form that a grammar can express. Values inside it are named by the numbers of their
 * rules, so that a recursive schema becomes recursive rules.
 */
export type GrammarNode =
  | { readonly kind: "any" }
  | { readonly kind: "literal"; readonly value: unknown }
  | { readonly kind: "scalar"; readonly type: "string" | "number" | "integer" | "boolean" | "null" }
  | { readonly kind: "array"; readonly item: number }
  /** `rest`: the rule for members of any name. It is set only where the schema declares no names. */
  | { readonly kind: "object"; readonly members: readonly Member[]; readonly rest: number | undefined };

export interface Member {
  readonly name: string;
  readonly rule: number;
  readonly isRequired: boolean;
}

/** The kinds of JSON values that differ in their first character. */
export const kinds = ["object", "array", "string", "number", "boolean", "null"] as const;
export type Kind = (typeof kinds)[number];

export function kindOf(value: unknown): Kind {
  const type = typeOf(value);
  return type === "integer" ? "number" : type;
}

export type RuleOf = (conjunction: Conjunction) => number;

/** The nodes that satisfy all of the schemas; empty when no value can. */
export function nodesOf(resolved: ResolvedSchemas, ruleOf: RuleOf, validator: LiteralValidator): GrammarNode[] {
  const schemas = [...resolved];
  const literals = literalsOf(schemas);
  if (literals) {
    return literals
      .filter((value) => schemas.every((schema) => validator.acceptsOwnKeywords(schema, value)))
      .map((value) => ({ kind: "literal", value }));
  }
  const types = typesOf(schemas);
  if (types === undefined && !schemas.some(constrainsInside)) return [{ kind: "any" }];
  return [...(types ?? kinds)].map((type) => nodeOfType(type, schemas, ruleOf));
}

const constrainsInside = (schema: SchemaObject): boolean =>
  ["properties", "required", "additionalProperties", "items"].some((keyword) => Object.hasOwn(schema, keyword));

function nodeOfType(type: JsonType, schemas: SchemaObject[], ruleOf: RuleOf): GrammarNode {
  if (type === "object") return objectNode(schemas, ruleOf);
  if (type !== "array") return { kind: "scalar", type };
  return { kind: "array", item: ruleOf(schemas.flatMap((schema) => asConjunction(schema["items"]))) };
}

function objectNode(schemas: SchemaObject[], ruleOf: RuleOf): GrammarNode {
  const required = new Set(schemas.flatMap(requiredOf));
  const declared = schemas.flatMap((schema) => Object.keys(propertiesOf(schema)));
  const members = [...new Set([...declared, ...required])].map((name) => ({
    name,
    rule: ruleOf(schemas.flatMap((schema) => memberConjunction(schema, name))),
    isRequired: required.has(name),
  }));
  // Undeclared names are allowed only where none is declared: a repeated name would override the declared member.
  const others = (): number => ruleOf(schemas.flatMap((schema) => asConjunction(schema["additionalProperties"])));
  return { kind: "object", members, rest: members.length === 0 ? others() : undefined };
}

/** The values of `const` or `enum`, or undefined when the schemas have neither. */
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
