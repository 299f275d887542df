import type { ApiError } from "../errors/api-error.ts";
import { fieldPath, itemPath } from "./field-path.ts";
import type { Path } from "./field-path.ts";
import { isRecord } from "./schema.ts";

/** A field of the body, present or not, that satisfies its own schema. */
export interface Field {
  readonly path: Path;
  readonly value: unknown;
  /** The object that the field belongs to. Fields after this one may still be invalid. */
  readonly owner: Readonly<Record<string, unknown>>;
}

/** What a schema cannot express, by the path of the field without indexes: `tools[].function.name`. A rule may be asked twice. */
export type Rules = Readonly<Record<string, (field: Field) => ApiError | undefined>>;

/** Whether a body that satisfies its schema also keeps every rule. */
export function keepsRules(body: unknown, rules: Rules): boolean {
  return Object.entries(rules).every(([path, findFault]) =>
    everyField(body, stepsOf(path), 0, "", (field) => findFault(field) === undefined),
  );
}

/** The names in each path. There are as many paths as the contract has rules. */
const steps = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  const known = steps.get(path);
  if (known) return known;
  const names = path.replaceAll("[]", "").split(".");
  steps.set(path, names);
  return names;
}

/** Whether every field is right that the names from `at` on lead to. A list on the way leads into each of its items. */
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
