import { isRecord } from "@parley/common/is-record";
import { isText, show } from "./change.ts";
import type { Change, Grade } from "./change.ts";

type Json = Readonly<Record<string, unknown>>;

/** The contract's extension keywords that programs obey, and the grade of an addition to each. */
const words: Readonly<Record<string, Grade>> = {
  "x-error-catalog": "additive",
  "x-edge-statuses": "additive",
  "x-limits": "additive",
  "x-engine-members": "additive",
  // The stream machines may now allow events that a client of the release does not know.
  "x-streams": "breaking",
  "x-unsupported-values": "additive",
  // A member that was unknown was promised nothing.
  "x-unsupported-members": "additive",
  "x-json-schema": "additive",
  "x-may-grow": "breaking",
  // In a request, each entry says that a value is refused or has no effect.
  "x-dependencies": "breaking",
  "x-error-code": "breaking",
  "x-ignored": "breaking",
  "x-digits-only": "breaking",
  "x-exact-bounds": "breaking",
  "x-model-limit": "breaking",
};

/** Compares the keywords that this contract adds to OpenAPI. */
export function judgeWords(released: Json, current: Json): readonly Change[] {
  const [before, now] = [wordsIn(released), wordsIn(current)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((place) => {
    const [old, added] = [before.get(place), now.get(place)];
    const ofAddition = words[place.split(" ").at(-1) ?? ""] ?? "breaking";
    // A keyword of a schema that is new changes nothing for a caller of the release.
    const isNewOwner = added !== undefined && !isIn(released, added.owner);
    return compare([place], old?.value, added?.value, isNewOwner ? "additive" : ofAddition);
  });
}

/** A keyword's value, and the path of the object that has it. */
interface Word {
  readonly owner: readonly string[];
  readonly value: unknown;
}

/** Finds the values of all these keywords in a document, by their places. */
function wordsIn(
  node: unknown,
  path: readonly string[] = [],
  found = new Map<string, Word>(),
): ReadonlyMap<string, Word> {
  if (typeof node !== "object" || node === null) return found;
  for (const [name, value] of Object.entries(node)) {
    const at = [...path, name];
    if (Object.hasOwn(words, name)) found.set(at.join(" "), { owner: path, value });
    else wordsIn(value, at, found);
  }
  return found;
}

/** Returns whether a document has a value at this path. */
function isIn(document: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return document !== undefined;
  return isRecord(document) || Array.isArray(document) ? isIn(Object(document)[name], rest) : false;
}

function compare(path: readonly string[], before: unknown, now: unknown, ofAddition: Grade): Change[] {
  const place = path.join(" ");
  if (JSON.stringify(before) === JSON.stringify(now)) return [];
  if (isText(path.at(-1) ?? "")) return [{ grade: "editorial", place, what: "has other words" }];
  if (before === undefined) return [{ grade: ofAddition, place, what: "is added" }];
  // A member that had no effect has one now. A strict request that was refused for it is accepted.
  const hasEffectNow = now === undefined && path.at(-1)?.endsWith("x-ignored") === true;
  if (now === undefined) return [{ grade: hasEffectNow ? "additive" : "breaking", place, what: "is removed" }];
  if (isRecord(before) && isRecord(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return names.flatMap((name) => compare([...path, name], before[name], now[name], ofAddition));
  }
  if (Array.isArray(before) && Array.isArray(now)) return compareLists(path, before, now, ofAddition);
  return [{ grade: gradeOfValue(path, before, now), place, what: `is ${show(now)}, was ${show(before)}` }];
}

/** Items with an `id` or a `kind` are compared with the item of the same name, others as they are. The order has no meaning. */
function compareLists(
  path: readonly string[],
  before: readonly unknown[],
  now: readonly unknown[],
  ofAddition: Grade,
): Change[] {
  const byName = (items: readonly unknown[]): Json => Object.fromEntries(items.map((item) => [nameOf(item), item]));
  return compare(path, byName(before), byName(now), ofAddition);
}

const nameOf = (item: unknown): string =>
  isRecord(item) && ("id" in item || "kind" in item) ? String(item["id"] ?? item["kind"]) : show(item);

/**
 * A bound on what a caller may send may grow. The lines of a stream may become fewer: a pattern that continues the released one
 * allows less. The texts that say how far a keyword of a caller's schema is enforced are judged by their clauses. One more error may end a stream, because callers must handle codes that they do
 * not know. Any other changed value breaks a caller who relies on it.
 */
function gradeOfValue([word, name = "", member]: readonly string[], before: unknown, now: unknown): Grade {
  if (word === "x-error-catalog" && member === "in_stream" && now === true) return "additive";
  if (word === "x-streams" && name === "lines") return isLonger(before, now) ? "additive" : "breaking";
  if (word?.endsWith("x-json-schema") === true && name === "enforced-in-part") return "additive";
  const isBound = word === "x-limits" && member === "value" && /^(?:max|schema)[A-Z]/.test(name);
  return isBound && Number(now) > Number(before) ? "additive" : "breaking";
}

const isLonger = (before: unknown, now: unknown): boolean =>
  typeof before === "string" && typeof now === "string" && now.startsWith(before);
