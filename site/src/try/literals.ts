import { isObject } from "./schema.ts";
import type { Json } from "./schema.ts";

const isShort = (text: string): boolean => text.length <= 72 && !text.includes("\n");

/** Writes JSON as a literal of JavaScript. */
export function jsLiteral(value: Json, indent = ""): string {
  const name = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
  return literal(value, indent, { scalar: (one) => JSON.stringify(one), name });
}

/** Writes JSON as a literal of Python. */
export function pythonLiteral(value: Json, indent = ""): string {
  const words = new Map<Json, string>([
    [null, "None"],
    [true, "True"],
    [false, "False"],
  ]);
  return literal(value, indent, {
    scalar: (one) => words.get(one) ?? JSON.stringify(one),
    name: (key) => JSON.stringify(key),
  });
}

interface Spelling {
  readonly scalar: (value: Json) => string;
  readonly name: (key: string) => string;
}

function literal(value: Json, indent: string, spelling: Spelling): string {
  const deeper = `${indent}  `;
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => ["", item] as const)]
    : isObject(value)
      ? ["{", "}", Object.entries(value).map(([key, inner]) => [`${spelling.name(key)}: `, inner] as const)]
      : ["", "", undefined];
  if (!items) return spelling.scalar(value);
  const blank = open === "{" && items.length > 0 ? " " : "";
  const line = `${open}${blank}${items.map(([key, inner]) => key + literal(inner, "", spelling)).join(", ")}${blank}${close}`;
  if (isShort(line)) return line;
  const rows = items.map(([key, inner]) => `${deeper}${key}${literal(inner, deeper, spelling)},\n`);
  return `${open}\n${rows.join("")}${indent}${close}`;
}
