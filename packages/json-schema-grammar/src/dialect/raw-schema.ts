import { ExactNumber, canonicalNumber } from "../json/exact-number.ts";

/** A JSON Schema as it is written, of any draft. */
export type Schema = boolean | SchemaObject;
export type SchemaObject = { readonly [keyword: string]: unknown };

const jsonTypes = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;
export type JsonType = (typeof jsonTypes)[number];

export const isJsonType = (value: unknown): value is JsonType => jsonTypes.some((type) => type === value);

export const isObject = (value: unknown): value is SchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

export const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isObject(value);

/** Checks if a value has more than `levels` levels of arrays and objects. It looks no deeper. */
export const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  !(value instanceof ExactNumber) &&
  (levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item)));

/** Returns JSON with sorted member names, so equal values have equal texts. */
export function canonical(value: unknown): string {
  // `JSON.stringify` has replaced an exact number by its text before it calls this.
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, name, item: unknown) {
    const own = this[name];
    if (own instanceof ExactNumber) return canonicalNumber(own);
    return isObject(item) ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))) : item;
  });
}

/** The path of a member of a schema, such as `properties.a.pattern`; empty for the root. */
export const joinPath = (path: string, step: string): string => (path === "" ? step : `${path}.${step}`);
