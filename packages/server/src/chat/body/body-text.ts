import { createHash } from "node:crypto";
import { parseJson, sourceOfMember } from "@parley/json-schema-grammar/json";
import { isRecord } from "@parley/common/is-record";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The parts of a body's text that are lost in its parsed value: the digits of a number (2^63 and 2^63 − 1 are the same
 * double, as are `2.0` and `2`), and the order of names that are array indexes, which JavaScript moves to the front. The
 * text is read again only when one of them is needed.
 */
export class BodyText {
  readonly #text: string;
  readonly #value: unknown;
  #orders: ReadonlyMap<unknown, readonly string[]> | undefined;

  /** @param text valid JSON @param value the result of `JSON.parse` */
  constructor(text: string, value: unknown) {
    this.#text = text;
    this.#value = value;
  }

  /** Returns the SHA-256 of the text in UTF-8, in hex. */
  hash(): string {
    return createHash("sha256").update(this.#text).digest("hex");
  }

  /** Returns the text of the value of a top-level field. Of a repeated field, the last one counts, as in `JSON.parse`. */
  sourceOf(name: string): string | undefined {
    return sourceOfMember(this.#text, name);
  }

  /** Returns the names of an object of the value, in the order of the text. */
  namesOf(owner: JsonObject): readonly string[] {
    const names = Object.keys(owner);
    const isReordered = names.length > 1 && /^\d+$/.test(names[0] ?? "");
    if (!isReordered) return names;
    this.#orders ??= ordersIn(this.#value, parseJson(this.#text));
    return this.#orders.get(owner) ?? names;
  }
}

/** Returns the names of every object of a value, by object. @param exact the same value with its members in order */
function ordersIn(root: unknown, exact: unknown): ReadonlyMap<unknown, readonly string[]> {
  const orders = new Map<unknown, readonly string[]>();
  const visit = (value: unknown, ordered: unknown): void => {
    if (Array.isArray(value) && Array.isArray(ordered)) {
      for (const [index, item] of value.entries()) visit(item, ordered[index]);
    }
    if (!isRecord(value) || !isRecord(ordered)) return;
    orders.set(value, Object.keys(ordered));
    for (const [name, field] of Object.entries(ordered)) visit(value[name], field);
  };
  visit(root, exact);
  return orders;
}
