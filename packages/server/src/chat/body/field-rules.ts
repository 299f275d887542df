import type { ApiError } from "../../errors/api-error.ts";
import { fieldPath, itemPath } from "./field-path.ts";
import type { Path } from "./field-path.ts";
import { isRecord } from "@parley/common/is-record";

/** A field of the body that satisfies its own schema. It may be absent: then its value is undefined. */
export interface Field {
  readonly path: Path;
  readonly value: unknown;
  /** The object that the field belongs to. Fields after this one may still be invalid. */
  readonly owner: Readonly<Record<string, unknown>>;
}

/**
 * Rules that a schema cannot express, by the path of the field without indexes: `tools[].function.name`. A rule may be
 * called twice for a field.
 */
export type Rules = Readonly<Record<string, (field: Field) => ApiError | undefined>>;

/** Checks whether a body that satisfies its schema also satisfies every rule. */
export function keepsRules(body: unknown, rules: Rules): boolean {
  return Object.entries(rules).every(([path, findFault]) =>
    everyField(body, stepsOf(path), 0, "", (field) => findFault(field) === undefined),
  );
}

/** A cache of the names in each path. It has one entry per rule of the contract. */
const steps = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  const known = steps.get(path);
  if (known) return known;
  const names = path.replaceAll("[]", "").split(".");
  steps.set(path, names);
  return names;
}

/** Checks all fields to which the names from index `at` on lead. A list leads into each of its items. */
function everyField(
  owner: unknown,
  names: readonly string[],
  at: number,
  parent: Path,
  isRight: (field: Field) => boolean,
): boolean {
  if (!isRecord(owner)) return true;
  const name = names[at] ?? "";
  const path = fieldPath(parent, name);
  const value = Object.hasOwn(owner, name) ? owner[name] : undefined;
  const next = at + 1;
  if (next === names.length) return isRight({ path, value, owner });
  if (!Array.isArray(value)) return everyField(value, names, next, path, isRight);
  return value.every((item, index) => everyField(item, names, next, itemPath(path, index), isRight));
}
