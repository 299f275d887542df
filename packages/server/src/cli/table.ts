import { Option } from "commander";
import type { Command } from "commander";

const formats = ["table", "csv", "json"] as const;
export type Format = (typeof formats)[number];

export const addFormatFlags = (command: Command): Command =>
  command
    .addOption(new Option("--format <format>", "output format").choices(formats).default("table"))
    .addOption(new Option("--json", "the same as --format json").implies({ format: "json" }));

/** Formats rows. All formats have the same columns and names. JSON also keeps types, and fields that are not columns. */
export function toRows(columns: readonly string[], rows: readonly object[], format: Format): string {
  if (format === "json") return toJson(rows);
  const cells = rows.map((row) => columns.map((column) => cellOf((row as Record<string, unknown>)[column]))); // a row has its columns
  return format === "csv" ? toCsv(columns, cells) : toTable(columns, cells);
}

const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** Control characters, and those that change the order of others, could make a terminal show another text than there is. */
const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, "\uFFFD");

/** Formats rows for people. Each column is as wide as its widest cell. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(printable));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...shown.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return `${[header, ...shown].map(line).join("\n")}\n`;
}

/** Formats one thing for people, with a line for each field. */
export function toLines(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join("");
}

export const toJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Formats rows as CSV (RFC 4180). */
export const toCsv = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, ...rows].map(toCsvLine).join("");

/** A spreadsheet takes a text that begins with one of these characters for a formula. Names come from many people. */
const formula = /^[=+\-@\t\r]/;

export function toCsvLine(cells: readonly string[]): string {
  const cell = (text: string): string => {
    const plain = formula.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return `${cells.map(cell).join(",")}\r\n`;
}
