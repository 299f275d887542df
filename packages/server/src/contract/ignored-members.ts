import contract from "../generated/contract.json" with { type: "json" };
import { itemPath, memberPath } from "./member-path.ts";
import type { Path } from "./member-path.ts";
import { branchFor, isRecord, resolve } from "./schema.ts";
import type { Schema } from "./schema.ts";

const { ignoredParamsShown, ignoredParamNameBytes } = contract["x-limits"];

/**
 * Members of a valid body that have no effect: unknown ones anywhere, and those that the contract marks so. A null member
 * is absent, so it is never among them. In the order of the request, at most as many as the header shows.
 */
export function findIgnoredMembers(schema: Schema, body: unknown): readonly Path[] {
  const found: Path[] = [];
  collect(schema, body, "", found);
  return found;
}

function collect(unresolved: Schema, value: unknown, path: Path, found: Path[]): void {
  const schema = resolve(unresolved);
  if (found.length >= ignoredParamsShown.value) return;
  if (schema.oneOf) {
    const branch = branchFor(schema, value);
    if (branch) collect(branch, value, path, found);
  } else if (Array.isArray(value)) collectItems(schema, value, path, found);
  else if (isRecord(value) && schema.properties) collectMembers(schema.properties, value, path, found);
}

function collectItems(schema: Schema, items: readonly unknown[], path: Path, found: Path[]): void {
  const { items: inner } = schema;
  if (!inner) return;
  for (const [index, item] of items.entries()) collect(inner, item, itemPath(path, index), found);
}

function collectMembers(
  properties: Readonly<Record<string, Schema>>,
  value: Record<string, unknown>,
  path: Path,
  found: Path[],
): void {
  for (const [name, item] of Object.entries(value)) {
    if (item === null || found.length >= ignoredParamsShown.value) continue;
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = memberPath(path, name);
    if (!member || member["x-ignored"]) found.push(at);
    else collect(member, item, at, found);
  }
}

/** The header's value: names cut, and whatever a header cannot carry replaced. */
export function formatIgnored(paths: readonly Path[]): string {
  return paths.map(formatName).join(",");
}

function formatName(path: Path): string {
  const bytes = Buffer.from(path === "" ? "?" : path).subarray(0, ignoredParamNameBytes.value);
  return Array.from(bytes, (byte) =>
    byte < 0x21 || byte > 0x7e || byte === 0x2c ? "?" : String.fromCharCode(byte),
  ).join("");
}
