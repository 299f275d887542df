import contract from "@parley/contract/contract.json" with { type: "json" };
import { itemPath, fieldPath } from "./field-path.ts";
import type { Path } from "./field-path.ts";
import { isRecord } from "@parley/common/is-record";
import { branchFor, resolve } from "./schema.ts";
import type { Schema } from "./schema.ts";

const { ignoredParamsShown, ignoredParamNameBytes } = contract["x-limits"];

/** Functions that the search needs for a request. */
export interface IgnoredLookup {
  /** Returns the names of an object in the order of the request. */
  readonly namesOf: (owner: Readonly<Record<string, unknown>>) => readonly string[];
  /**
   * Returns the paths in a JSON Schema of the request that its grammar does not enforce; an empty path for the whole
   * schema.
   */
  readonly ignoredIn: (schema: Readonly<Record<string, unknown>>) => readonly Path[];
}

/** The fields without effect that a body alone shows. */
export interface IgnoredFields {
  readonly paths: readonly Path[];
  /** The number of paths in front of a maximum, which has no effect once it is lowered to that of a model. */
  readonly placeOfMaximum: ReadonlyMap<string, number>;
}

/** The same fields and a maximum, in the order of the request. */
export function withMaximum({ paths, placeOfMaximum }: IgnoredFields, name: string): readonly Path[] {
  return paths.toSpliced(placeOfMaximum.get(name) ?? paths.length, 0, name).slice(0, ignoredParamsShown.value);
}

/**
 * Finds the fields of a valid body that have no effect: unknown fields, fields that the contract marks as ignored, and
 * keywords of a JSON Schema that are not enforced. Fields with null count as absent.
 * @returns paths in the order of the request, at most as many as the header may have
 */
export function findIgnoredFields(schema: Schema, body: unknown, lookup: IgnoredLookup): IgnoredFields {
  const search: Search = { found: [], places: new Map(), ...lookup };
  collect(search, schema, body, "");
  return { paths: search.found, placeOfMaximum: search.places };
}

interface Search extends IgnoredLookup {
  readonly found: Path[];
  readonly places: Map<string, number>;
}

function collect(search: Search, unresolved: Schema, value: unknown, path: Path): void {
  const schema = resolve(unresolved);
  if (search.found.length >= ignoredParamsShown.value) return;
  if (schema.oneOf) {
    const branch = branchFor(schema, value);
    if (branch) collect(search, branch, value, path);
  } else if (Array.isArray(value)) collectItems(search, schema, value, path);
  else if (isRecord(value) && schema["x-json-schema"]) collectWords(search, value, path);
  else if (isRecord(value) && schema.properties) collectFields(search, schema.properties, value, path);
}

function collectItems(search: Search, schema: Schema, items: readonly unknown[], path: Path): void {
  const { items: inner } = schema;
  if (!inner) return;
  for (const [index, item] of items.entries()) collect(search, inner, item, itemPath(path, index));
}

function collectWords(search: Search, schema: Record<string, unknown>, path: Path): void {
  const left = ignoredParamsShown.value - search.found.length;
  search.found.push(
    ...search
      .ignoredIn(schema)
      .slice(0, left)
      .map((word) => (word === "" ? path : fieldPath(path, word))),
  );
}

function collectFields(
  search: Search,
  properties: Readonly<Record<string, Schema>>,
  value: Record<string, unknown>,
  path: Path,
): void {
  for (const name of search.namesOf(value)) {
    const item = value[name];
    if (item === null || search.found.length >= ignoredParamsShown.value) continue;
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = fieldPath(path, name);
    if (!member || member["x-ignored"]) search.found.push(at);
    else if (member["x-model-limit"] === undefined) collect(search, member, item, at);
    else search.places.set(name, search.found.length);
  }
}

/** Formats the value of the header. Long names are cut, and characters that a header cannot contain are replaced. */
export function formatIgnored(paths: readonly Path[]): string {
  return paths.map(formatName).join(",");
}

function formatName(path: Path): string {
  const bytes = Buffer.from(path === "" ? "?" : path).subarray(0, ignoredParamNameBytes.value);
  return Array.from(bytes, (byte) =>
    byte < 0x21 || byte > 0x7e || byte === 0x2c ? "?" : String.fromCharCode(byte),
  ).join("");
}
