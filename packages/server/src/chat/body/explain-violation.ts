import { ApiError } from "../../errors/api-error.ts";
import { itemPath, fieldPath } from "./field-path.ts";
import type { Path } from "./field-path.ts";
import { isRecord } from "@parley/common/is-record";
import { allowsType, branchFor, resolve, tagOf, tagsOf } from "./schema.ts";
import type { Schema } from "./schema.ts";
import type { Rules } from "./field-rules.ts";
import { useInstead } from "./unsupported-members.ts";
import { boundFault, describeTypes, describeValue, mustBe } from "./value-bounds.ts";

/**
 * Returns the first violation in the contract's order: fields in the order of the schema, depth first, each followed by its
 * rule. Called only after a body was refused, to tell the caller which field is at fault and why.
 */
export function explainViolation(schema: Schema, body: unknown, rules: Rules = {}): ApiError | undefined {
  if (!isRecord(body)) return new ApiError("invalid_type", "The body must be a JSON object.");
  return find(rules, schema, body, "");
}

function find(rules: Rules, unresolved: Schema, value: unknown, path: Path): ApiError | undefined {
  const schema = resolve(unresolved);
  const violation = schema.oneOf ? findInUnion(rules, schema, value, path) : findInPlain(rules, schema, value, path);
  const code = schema["x-error-code"];
  if (!violation || code === undefined) return violation;
  return new ApiError(code, `${path} is not supported here. ${useInstead(path)}`, { param: path });
}

function findInUnion(rules: Rules, schema: Schema, value: unknown, path: Path): ApiError | undefined {
  if (!allowsType(schema, value)) return wrongType(schema, value, path);
  const branch = branchFor(schema, value);
  if (branch) return find(rules, branch, value, path);
  return schema.discriminator
    ? explainTag(schema, schema.discriminator.propertyName, value, path)
    : wrongType(schema, value, path);
}

function explainTag(schema: Schema, name: string, value: unknown, path: Path): ApiError {
  const at = fieldPath(path, name);
  const tag = tagOf(schema, value);
  if (tag === undefined) return missing(at);
  if (typeof tag !== "string") return new ApiError("invalid_type", `${at} must be a string.`, { param: at });
  const known = (schema.oneOf ?? []).flatMap((branch) => tagsOf(resolve(branch), name));
  return schema["x-unsupported-values"]?.includes(tag)
    ? new ApiError("unsupported_value", `${at} is "${tag}", which is not supported. It ${mustBe(known)}.`, {
        param: at,
      })
    : new ApiError("invalid_value", `${at} ${mustBe(known)}.`, { param: at });
}

function findInPlain(rules: Rules, schema: Schema, value: unknown, path: Path): ApiError | undefined {
  if (!allowsType(schema, value)) return wrongType(schema, value, path);
  const fault = boundFault(schema, value);
  if (fault !== undefined) return new ApiError("invalid_value", `${path} ${fault}.`, { param: path });
  if (Array.isArray(value)) return findInItems(rules, schema, value, path);
  return isRecord(value) ? findInFields(rules, schema, value, path) : undefined;
}

function findInItems(rules: Rules, schema: Schema, items: readonly unknown[], path: Path): ApiError | undefined {
  if (!schema.items) return undefined;
  for (const [index, item] of items.entries()) {
    const violation = find(rules, schema.items, item, itemPath(path, index));
    if (violation) return violation;
  }
  return undefined;
}

function findInFields(rules: Rules, schema: Schema, owner: Record<string, unknown>, path: Path): ApiError | undefined {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const at = fieldPath(path, name);
    const isGiven = Object.hasOwn(owner, name);
    if (!isGiven && schema.required?.includes(name)) return missing(at);
    const value = isGiven ? owner[name] : undefined;
    const violation = isGiven ? find(rules, member, value, at) : undefined;
    if (violation) return violation;
    const broken = rules[at.replaceAll(/\[\d+\]/g, "[]")]?.({ path: at, value, owner });
    if (broken) return broken;
  }
  return findInFreeFields(rules, schema, owner, path);
}

/** Finds a violation in the fields of an object whose names the caller chooses. */
function findInFreeFields(
  rules: Rules,
  { additionalProperties: free, propertyNames, properties = {} }: Schema,
  owner: Record<string, unknown>,
  path: Path,
): ApiError | undefined {
  for (const [name, item] of Object.entries(owner)) {
    const fault = propertyNames && boundFault(resolve(propertyNames), name);
    if (fault !== undefined)
      return new ApiError("invalid_value", `Each member name in ${path} ${fault}.`, { param: path });
    const isFree = typeof free === "object" && !Object.hasOwn(properties, name);
    const violation = isFree ? find(rules, free, item, fieldPath(path, name)) : undefined;
    if (violation) return violation;
  }
  return undefined;
}

const missing = (path: Path): ApiError =>
  new ApiError("missing_required_parameter", `${path} is required and missing.`, { param: path });

const wrongType = (schema: Schema, value: unknown, path: Path): ApiError =>
  new ApiError("invalid_type", `${path} must be ${describeTypes(schema)}, and is ${describeValue(value)}.`, {
    param: path,
  });
