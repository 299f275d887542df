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
  return Object.entries(rules).every(([path, findFault]) => {
    for (const field of fieldsAt(body, path.split("."), "")) if (findFault(field)) return false;
    return true;
  });
}

/** Every field that a path leads to; the step `messages[]` leads into every item. */
function* fieldsAt(owner: unknown, [step = "", ...rest]: readonly string[], parent: Path): Generator<Field> {
  if (!isRecord(owner)) return;
  const name = step.replace("[]", "");
  const path = fieldPath(parent, name);
  const value = Object.hasOwn(owner, name) ? owner[name] : undefined;
  if (rest.length === 0) yield { path, value, owner };
  else if (!Array.isArray(value)) yield* fieldsAt(value, rest, path);
  else for (const [index, item] of value.entries()) yield* fieldsAt(item, rest, itemPath(path, index));
}
