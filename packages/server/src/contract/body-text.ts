import { parseJson, sourceOfMember } from "@parley/inference";
import { isRecord } from "./schema.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * What a body's text says and its value does not: how a number is written (a double cannot tell 2^63 from 2^63 − 1, nor
 * `2.0` from `2`), and the order of names that are array indexes, which JavaScript moves to the front.
 * The text is read a second time only when one of the two is asked for.
 */
export class BodyText {
  readonly #text: string;
  readonly #value: unknown;
  #orders: ReadonlyMap<unknown, readonly string[]> | undefined;

  /** @param text valid JSON @param value what `JSON.parse` makes of it */
  constructor(text: string, value: unknown) {
    this.#text = text;
    this.#value = value;
  }

  /** How the value of a field of the root is written; of a repeated field the last one counts, as in the value. */
  sourceOf(name: string): string | undefined {
    return sourceOfMember(this.#text, name);
  }

  /** The names of an object of the value, in the order of the text. */
  namesOf(owner: JsonObject): readonly string[] {
    const names = Object.keys(owner);
    const isReordered = names.length > 1 && /^\d+$/.test(names[0] ?? "");
    if (!isReordered) return names;
    this.#orders ??= ordersIn(this.#value, parseJson(this.#text));
    return this.#orders.get(owner) ?? names;
  }
}

/** The names of every object of a value. @param exact the same value with its members in order */
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
