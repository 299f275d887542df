import { ExactNumber, toJsonNumber } from "./exact-number.ts";
import { endOfString, scanJson, sourceOfMember } from "./scan-json.ts";

/**
 * `JSON.parse` loses two properties of a text: the digits of numbers that a double cannot hold, and the place of members whose
 * names are digits. The functions here keep both. `JSON.stringify` writes what they give as it was written.
 *
 * - A number that a double would change, or write differently, is an `ExactNumber`.
 * - An object whose members JavaScript would reorder is a proxy that lists them in their order. It cannot be cloned to
 *   another thread, so values travel as text.
 */

/** @throws {SyntaxError} for a text that is not JSON */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isPlain(text) ? value : readValue(text, toJsonNumber);
}

/**
 * Parses a text, and keeps every number that is written differently from how JavaScript writes it, such as 1.50.
 * @throws {SyntaxError} for a text that is not JSON
 */
export function parseSpelledJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isPlain(text) && !/\.\d*0(?!\d)|-0/.test(text) ? value : readValue(text, toSpelledNumber);
}

/**
 * Parses a text as `JSON.parse` does, except for the arrays and objects at some paths, whose numbers and members are exact.
 * @param exactPaths from the root object, such as `tools.*.parameters`; `*` stands for every item of an array
 * @param isTextPlain found by `scanJson`; by default the text is scanned here, where it has such members
 * @throws {SyntaxError} for a text that is not JSON
 */
export function parseJsonWith(text: string, exactPaths: readonly string[], isTextPlain?: boolean): unknown {
  const value: unknown = JSON.parse(text);
  let known = isTextPlain;
  const isWholePlain = (): boolean => (known ??= isPlain(text));
  if (!isHolder(value) || Array.isArray(value)) return value;
  for (const path of exactPaths) {
    const [name = "", ...steps] = path.split(".");
    const member = value[name];
    if (!isHolder(member) || isWholePlain()) continue;
    const source = sourceOfMember(text, name) ?? "";
    if (!isPlain(source)) value[name] = graft(member, readValue(source, toJsonNumber), steps);
  }
  return value;
}

/** @param exact the same value, of which the array or object that the steps lead to is taken */
function graft(value: unknown, exact: unknown, [step, ...rest]: readonly string[]): unknown {
  if (!isHolder(value) || !isHolder(exact)) return value;
  if (step === undefined) return exact;
  if (step === "*") return Array.isArray(value) ? value.map((item, index) => graft(item, exact[index], rest)) : value;
  if (Object.hasOwn(value, step)) value[step] = graft(value[step], exact[step], rest);
  return value;
}

/** Checks if a value is an array or an object. */
const isHolder = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Makes an object with its members in this order. A repeated name has its first position and its last value. */
export function objectOf(
  entries: Iterable<readonly [name: string, value: unknown]>,
): Readonly<Record<string, unknown>> {
  const members = new Map(entries);
  const value = Object.fromEntries(members);
  const names = [...members.keys()];
  const isInOrder = Object.keys(value).every((name, index) => name === names[index]);
  return isInOrder ? value : new Proxy(value, { ownKeys: () => names });
}

const unbounded = { levels: Infinity, values: Infinity };
const isPlain = (text: string): boolean => scanJson(text, unbounded).isPlain;

const toSpelledNumber = (text: string): unknown => {
  const value = Number(text);
  return JSON.stringify(value) === text ? value : new ExactNumber(text);
};

/** An array or object whose end is not read yet. */
interface Open {
  readonly items: unknown[];
  /** Undefined for an array. */
  readonly names: string[] | undefined;
}

/** Reads valid JSON. It keeps a stack of its own, because a text may nest deeper than the call stack. */
function readValue(text: string, toNumber: (text: string) => unknown): unknown {
  const stack: Open[] = [];
  const top: Open = { items: [], names: undefined };
  let open = top;
  const end = /[\s,\]}]|$/g;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "{" || character === "[") {
      stack.push(open);
      open = { items: [], names: character === "{" ? [] : undefined };
    } else if (character === "}" || character === "]") {
      const value = close(open);
      open = stack.pop() ?? top;
      open.items.push(value);
    } else if (character === '"') {
      const last = endOfString(text, at);
      const value = readString(text.slice(at, last + 1));
      at = last;
      // If as many names as values were read, the string is a name.
      if (open.names?.length === open.items.length) open.names.push(value);
      else open.items.push(value);
    } else if (!/[\s,:]/.test(character)) {
      end.lastIndex = at;
      const token = text.slice(at, end.exec(text)?.index);
      at += token.length - 1;
      open.items.push(/^[-\d]/.test(token) ? toNumber(token) : (JSON.parse(token) as unknown));
    }
  }
  return top.items[0];
}

const close = ({ items, names }: Open): unknown =>
  names ? objectOf(names.map((name, index) => [name, items[index]] as const)) : items;

const readString = (source: string): string =>
  source.includes("\\") ? (JSON.parse(source) as string) : source.slice(1, -1); // the text is valid
