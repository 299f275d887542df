import { allowsType, plainText, resolve } from "./schema.ts";
import type { Schema, Schemas } from "./schema.ts";

/** The place of the caret in JSON that may be unfinished. */
export interface Place {
  /** The names and indexes that lead to the value around the caret. */
  readonly path: readonly (string | number)[];
  /** True if the caret is where the name of a member belongs. */
  readonly isName: boolean;
  /** The part of the word in front of the caret, without its quotation mark. */
  readonly word: string;
  /** The index at which the word begins, with its quotation mark. */
  readonly start: number;
  /** The names that the object has before the caret. */
  readonly present: readonly string[];
}

interface Level {
  readonly isObject: boolean;
  readonly names: string[];
  name: string;
  index: number;
  isName: boolean;
}

const tokens = /"(?:\\.|[^"\\])*("|$)|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** Returns the place of the caret, or undefined outside of every value. */
export function placeAt(text: string, caret: number): Place | undefined {
  const levels: Level[] = [];
  let last = { text: "", start: caret, isClosed: true };
  for (const match of text.slice(0, caret).matchAll(tokens)) {
    const [token, quote] = match;
    last = { text: token, start: match.index, isClosed: quote === '"' || /^[{}[\],:]/.test(token) };
    read(levels, token, quote === '"');
  }
  const level = levels.at(-1);
  if (!level) return undefined;
  const isInWord = !last.isClosed && last.start + last.text.length === caret;
  const path = levels.map(({ isObject, name, index }) => (isObject ? name : index));
  const isName = level.isObject && level.isName;
  return {
    path: isName ? path.slice(0, -1) : path,
    isName,
    word: isInWord ? last.text.replace(/^"/, "") : "",
    start: isInWord ? last.start : caret,
    present: level.names,
  };
}

function read(levels: Level[], token: string, isString: boolean): void {
  const level = levels.at(-1);
  if (token === "{" || token === "[")
    levels.push({ isObject: token === "{", names: [], name: "", index: 0, isName: token === "{" });
  else if (token === "}" || token === "]") levels.pop();
  else if (!level) return;
  else if (token === ",") {
    level.index += 1;
    level.isName = level.isObject;
  } else if (token === ":") level.isName = false;
  else if (isString && level.isName) {
    level.name = token.slice(1, -1);
    level.names.push(level.name);
  }
}

/** Text that fits at the caret. */
export interface Completion {
  readonly label: string;
  /** The text that replaces the word at the caret. */
  readonly text: string;
}

/** Returns up to 12 names or values that fit. @param models the ids that `model` offers */
export function complete(schemas: Schemas, root: Schema, place: Place, models: readonly string[]): Completion[] {
  const found = place.path.reduce((all, step) => all.flatMap((one) => inside(schemas, one, step)), [root]);
  const schemasHere = found.flatMap((one) => alternatives(schemas, one));
  const fits = (label: string): boolean => label.toLowerCase().startsWith(place.word.toLowerCase());
  if (place.isName) {
    const names = schemasHere.flatMap(({ properties = {} }) =>
      Object.entries(properties).flatMap(([name, schema]) =>
        schema["x-ignored"] === true || schema["x-error-code"] !== undefined ? [] : [name],
      ),
    );
    const open = [...new Set(names)].filter((name) => !place.present.includes(name) && fits(name));
    return open.slice(0, 12).map((name) => ({ label: name, text: `"${name}": ` }));
  }
  const values = schemasHere.flatMap(
    (schema) => schema.enum ?? (schema.type?.includes("boolean") ? [true, false] : []),
  );
  const all = place.path.length === 1 && place.path[0] === "model" ? models : values;
  return [...new Set(all)]
    .filter((value) => fits(plainText(value)))
    .slice(0, 12)
    .map((value) => ({ label: plainText(value), text: JSON.stringify(value) }));
}

/** Returns a schema, or its alternatives. */
function alternatives(schemas: Schemas, outer: Schema): Schema[] {
  const schema = resolve(schemas, outer);
  return schema.oneOf ? schema.oneOf.flatMap((one) => alternatives(schemas, one)) : [schema];
}

/** Returns the schemas of a member or an item. */
function inside(schemas: Schemas, outer: Schema, step: string | number): Schema[] {
  return alternatives(schemas, outer).flatMap((schema) => {
    if (typeof step === "number") return schema.items && allowsType(schemas, schema, "array") ? [schema.items] : [];
    return schema.properties?.[step] ?? [];
  });
}
