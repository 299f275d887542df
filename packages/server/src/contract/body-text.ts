import { parseTree } from "jsonc-parser";
import type { Node } from "jsonc-parser";
import { sourceOfMember } from "./scan-json.ts";
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
    this.#orders ??= ordersIn(this.#value, parseTree(this.#text));
    return this.#orders.get(owner) ?? names;
  }
}

/** Every field by its name: where it stood first, with the value that it had last. */
function fieldsOf(node: Node | undefined): ReadonlyMap<string, Node> {
  const fields = node?.type === "object" ? (node.children ?? []) : [];
  return new Map(
    fields.flatMap(({ children: [name, value] = [] }) => (name && value ? [[String(name.value), value]] : [])),
  );
}

/** The names of every object of a value, read from its tree. */
function ordersIn(root: unknown, tree: Node | undefined): ReadonlyMap<unknown, readonly string[]> {
  const orders = new Map<unknown, readonly string[]>();
  const visit = (value: unknown, node: Node | undefined): void => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, node?.children?.[index]);
    if (!isRecord(value)) return;
    const fields = fieldsOf(node);
    orders.set(value, [...fields.keys()]);
    for (const [name, field] of fields) visit(value[name], field);
  };
  visit(root, tree);
  return orders;
}
