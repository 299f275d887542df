import { document } from "../../src/contract/contract.ts";
import { isRecord } from "../../src/judge/read.ts";

/**
 * A fault of a request, in the terms of the contract. The reference server has its own validation, on purpose: shared code would
 * have the same mistakes as Parley's server.
 */
export interface Violation {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

type Schema = Readonly<Record<string, unknown>>;

export const fault = (code: string, param: string | null, message: string, status = 400): Violation => ({
  status,
  code,
  param,
  message,
});

/** The schema behind a reference, as an object. */
function schemaOf(value: unknown): Schema {
  const schema = isRecord(value) ? value : {};
  const { $ref } = schema;
  return typeof $ref === "string" ? schemaOf(document.components.schemas[$ref.split("/").at(-1) ?? ""]) : schema;
}

const member = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function hasType({ type }: Schema, value: unknown): boolean {
  if (type === undefined) return true;
  const allowed = new Set([type].flat());
  return allowed.has(typeOf(value)) || (allowed.has("number") && typeof value === "number");
}

/** The first violation in the order of the schema's members, each to its depth. */
export function findViolation(unresolved: unknown, value: unknown, path = ""): Violation | undefined {
  const schema = schemaOf(unresolved);
  const found = Array.isArray(schema["oneOf"])
    ? inUnion(schema, schema["oneOf"], value, path)
    : inPlain(schema, value, path);
  const code = schema["x-error-code"];
  return found && typeof code === "string" ? fault(code, path, `${path} is not supported.`) : found;
}

function inUnion(schema: Schema, branches: readonly unknown[], value: unknown, path: string): Violation | undefined {
  const resolved = branches.map(schemaOf);
  if (value === null && resolved.some(({ type }) => type === "null")) return undefined;
  const tag = tagName(schema, resolved);
  if (tag === undefined || !isRecord(value)) {
    const branch = resolved.find((one) => hasType(one, value) || (one["oneOf"] !== undefined && isRecord(value)));
    return branch ? findViolation(branch, value, path) : fault("invalid_type", path, `${path} has the wrong type.`);
  }
  const at = member(path, tag);
  const given = value[tag];
  if (given === undefined || given === null) return fault("missing_required_parameter", at, `${at} is missing.`);
  if (typeof given !== "string") return fault("invalid_type", at, `${at} must be a string.`);
  const flat = resolved.flatMap((one) => (Array.isArray(one["oneOf"]) ? one["oneOf"].map(schemaOf) : [one]));
  const branch = flat.find((one) => isBranchOf(one, tag, given));
  if (branch) return findViolation(branch, value, path);
  const known = schema["x-unsupported-values"];
  const code = Array.isArray(known) && known.includes(given) ? "unsupported_value" : "invalid_value";
  return fault(code, at, `${at} is "${given}", which is not offered.`);
}

/** Returns whether an object with this tag belongs to the branch: the branch allows one value of the tag, as its `enum`. */
function isBranchOf(branch: Schema, tag: string, given: unknown): boolean {
  const { enum: allowed } = isRecord(branch["properties"]) ? schemaOf(branch["properties"][tag]) : {};
  return Array.isArray(allowed) && allowed.includes(given);
}

function tagName(schema: Schema, branches: readonly Schema[]): string | undefined {
  const inner = branches.find(({ discriminator }) => isRecord(discriminator)) ?? schema;
  const { discriminator } = inner;
  return isRecord(discriminator) ? String(discriminator["propertyName"]) : undefined;
}

function inPlain(schema: Schema, value: unknown, path: string): Violation | undefined {
  if (!hasType(schema, value)) return fault("invalid_type", path === "" ? null : path, `${path} has the wrong type.`);
  if (value === null) return undefined;
  const bound = boundFault(schema, value);
  if (bound !== undefined) return fault("invalid_value", path, `${path.slice(0, 1900)} ${bound}.`);
  if (Array.isArray(value))
    return first(value, (item, index) =>
      schema["items"] ? findViolation(schema["items"], item, `${path}[${index}]`) : undefined,
    );
  return isRecord(value) ? inObject(schema, value, path) : undefined;
}

function first<T>(items: readonly T[], find: (item: T, index: number) => Violation | undefined): Violation | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found) return found;
  }
  return undefined;
}

function inObject(schema: Schema, value: Record<string, unknown>, path: string): Violation | undefined {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const known = first(Object.entries(properties), ([name, inner]) => {
    const at = member(path, name);
    if (!Object.hasOwn(value, name) || value[name] === undefined)
      return required.includes(name) ? fault("missing_required_parameter", at, `${at} is missing.`) : undefined;
    if (value[name] === null && !required.includes(name)) return undefined;
    return findViolation(inner, value[name], at);
  });
  if (known) return known;
  const { additionalProperties } = schema;
  if (!isRecord(additionalProperties)) return undefined;
  return first(
    Object.keys(value).filter((name) => !(name in properties)),
    (name) => findViolation(additionalProperties, value[name], member(path, name)),
  );
}

function boundFault(schema: Schema, value: unknown): string | undefined {
  const number = (name: string): number | undefined => (typeof schema[name] === "number" ? schema[name] : undefined);
  const beyond = (size: number, least: string, most: string): boolean =>
    size < (number(least) ?? -Infinity) || size > (number(most) ?? Infinity);
  if (typeof value === "number" && schema["x-exact-bounds"] === undefined) {
    if (beyond(value, "minimum", "maximum")) return "is out of its range";
    if (value <= (number("exclusiveMinimum") ?? -Infinity)) return "is out of its range";
  }
  if (typeof value === "string" && beyond(Array.from(value).length, "minLength", "maxLength"))
    return "has a wrong length";
  if (
    typeof value === "string" &&
    typeof schema["pattern"] === "string" &&
    !new RegExp(schema["pattern"], "u").test(value)
  )
    return "has a wrong form";
  if (Array.isArray(value) && beyond(value.length, "minItems", "maxItems")) return "has too few or too many items";
  if (isRecord(value)) return objectFault(schema, value, beyond);
  const { enum: list, const: only } = schema;
  if (only !== undefined && value !== only) return `must be ${JSON.stringify(only)}`;
  return Array.isArray(list) && !list.some((one) => JSON.stringify(one) === JSON.stringify(value))
    ? "is not in the list"
    : undefined;
}

function objectFault(
  schema: Schema,
  value: Record<string, unknown>,
  beyond: (size: number, least: string, most: string) => boolean,
): string | undefined {
  const names = Object.keys(value);
  if (beyond(names.length, "minProperties", "maxProperties")) return "has too many members";
  const rule = schemaOf(schema["propertyNames"]);
  return names.some((name) => boundFault(rule, name) !== undefined) ? "has a member with a wrong name" : undefined;
}

/** Members that have no effect, in the order of the request. */
export function ignoredMembers(unresolved: unknown, value: unknown, path = ""): string[] {
  const schema = schemaOf(unresolved);
  if (Array.isArray(schema["oneOf"])) {
    const branches = schema["oneOf"].map(schemaOf);
    const tag = tagName(schema, branches);
    const branch = branches
      .flatMap((one) => (Array.isArray(one["oneOf"]) ? one["oneOf"].map(schemaOf) : [one]))
      .find((one) => (tag !== undefined && isRecord(value) ? isBranchOf(one, tag, value[tag]) : hasType(one, value)));
    return branch ? ignoredMembers(branch, value, path) : [];
  }
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      schema["items"] ? ignoredMembers(schema["items"], item, `${path}[${index}]`) : [],
    );
  const { properties } = schema;
  if (!isRecord(value) || !isRecord(properties)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    if (item === null) return [];
    const inner = Object.hasOwn(properties, name) ? schemaOf(properties[name]) : undefined;
    return inner === undefined || inner["x-ignored"] === true
      ? [member(path, name)]
      : ignoredMembers(properties[name], item, member(path, name));
  });
}
