import { isRecord } from "@parley/common/is-record";
import { resolve } from "./schema.ts";
import type { Schema } from "./schema.ts";

/**
 * Returns the bound that a value of the right type violates, as the end of a sentence such as "must be at most 2";
 * undefined if it violates none.
 */
export function boundFault(schema: Schema, value: unknown): string | undefined {
  return (
    literalFault(schema, value) ??
    // A rule checks exact bounds, on the digits of the number.
    (typeof value === "number" && !schema["x-exact-bounds"] ? numberFault(schema, value) : undefined) ??
    (typeof value === "string" ? stringFault(schema, value) : undefined) ??
    (Array.isArray(value) ? countFault("item", value.length, schema.minItems, schema.maxItems) : undefined) ??
    (isRecord(value) ? countFault("member", Object.keys(value).length, undefined, schema.maxProperties) : undefined)
  );
}

function literalFault(schema: Schema, value: unknown): string | undefined {
  const { enum: allowed } = schema;
  if (!allowed || allowed.some((one) => JSON.stringify(one) === JSON.stringify(value))) return undefined;
  return mustBe(allowed);
}

/** Returns the end of a sentence that lists the values allowed. Null is left out, because it means absent. */
export function mustBe(allowed: readonly unknown[]): string {
  const shown = allowed.filter((one) => one !== null).map((one) => JSON.stringify(one));
  return shown.length === 1 ? `must be ${shown[0]}` : `must be one of ${shown.join(", ")}`;
}

function numberFault(schema: Schema, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be above ${exclusiveMinimum}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `must be below ${exclusiveMaximum}`;
  const isUnreadable = schema["x-model-limit"] !== undefined && !Number.isFinite(value);
  return isUnreadable ? `must be at most ${Number.MAX_VALUE}, the largest double` : undefined;
}

function stringFault(schema: Schema, value: string): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  // Lengths are in code points. They are counted only if the number of code units does not decide, since a text never has
  // more code points than code units.
  const length = value.length > maxLength || value.length <= minLength * 2 ? Array.from(value).length : value.length;
  if (length < minLength) return length === 0 ? "must not be empty" : `must have at least ${minLength} characters`;
  if (length > maxLength) return `must have at most ${maxLength} characters`;
  return pattern !== undefined && !new RegExp(pattern, "u").test(value) ? `must match ${pattern}` : undefined;
}

function countFault(what: string, count: number, min = 0, max = Number.POSITIVE_INFINITY): string | undefined {
  if (count < min) return `must have at least ${min} ${what}${min === 1 ? "" : "s"}`;
  return count > max ? `must have at most ${max} ${what}s` : undefined;
}

const articles: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
};

/** Formats the types that a field may have, such as "a string or an array". Null is left out, because it means absent. */
export function describeTypes(schema: Schema): string {
  const words = namedTypes(schema).flatMap((type) => articles[type] ?? []);
  return words.length === 0 ? "null, that is, absent" : [...new Set(words)].join(" or ");
}

/** Names the type of a value, such as "a string". Numbers, booleans and null are shown as they are. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (Array.isArray(value)) return "an array";
  return isRecord(value) ? "an object" : String(value);
}

function namedTypes({ type, oneOf = [] }: Schema): readonly string[] {
  return type === undefined ? oneOf.flatMap((branch) => namedTypes(resolve(branch))) : [type].flat();
}
