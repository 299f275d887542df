import { isRecord } from "./schema.ts";

/** The names of an object in the order of the request. */
export type NamesOf = (owner: Readonly<Record<string, unknown>>) => readonly string[];

const digitsAsName = /"(?:\d|\\u003\d)+"\s*:/i;
const texts = /"([^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?)/gs;

/**
 * JavaScript moves names that are written in digits before all others. Where there are such names the text is read once
 * more, with a mark before every name.
 */
export function namesInOrder(text: string, root: unknown): NamesOf {
  if (!digitsAsName.test(text)) return Object.keys;
  const orders = new Map<unknown, readonly string[]>();
  const marked = text.replaceAll(texts, (whole, rest: string) => (rest.endsWith(":") ? `"_${rest}` : whole));
  note(orders, root, JSON.parse(marked));
  return (owner) => orders.get(owner) ?? Object.keys(owner);
}

function note(orders: Map<unknown, readonly string[]>, value: unknown, marked: unknown): void {
  if (Array.isArray(value) && Array.isArray(marked)) {
    for (const [index, item] of value.entries()) note(orders, item, marked[index]);
  } else if (isRecord(value) && isRecord(marked)) {
    const names = Object.keys(marked).map((name) => name.slice(1));
    orders.set(value, names);
    for (const name of names) note(orders, value[name], marked[`_${name}`]);
  }
}
