import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Schema } from "../src/index.ts";
import { parseTree } from "jsonc-parser";
import type { Node } from "jsonc-parser";

/** A file of MaskBench: a schema, and instances that are known to be valid or invalid. */
export interface Case {
  readonly id: string;
  /** The data set that the schema comes from, such as `Github_easy`. */
  readonly dataSet: string;
  readonly schema: Schema;
  readonly instances: readonly Instance[];
}

export interface Instance {
  /** JSON as MaskBench's own runner writes it: Python's `json.dumps`, members in the order of the file. */
  readonly text: string;
  readonly isValid: boolean;
}

/** @param path a JSON file with the members `schema` and `tests`, a list of `{data, valid}` */
export function readCase(path: string): Case {
  const text = readFileSync(path, "utf8");
  const id = basename(path, ".json");
  // The benchmark's files have this form.
  const { schema } = JSON.parse(text) as { readonly schema: Schema };
  const tests = memberOf(parseTree(text), "tests")?.children ?? [];
  const instances = tests.flatMap((test) => {
    const data = memberOf(test, "data");
    return data ? [{ text: pythonJson(data, text), isValid: memberOf(test, "valid")?.value === true }] : [];
  });
  return { id, dataSet: dataSetOf(id), schema, instances };
}

/** The names are `Github_easy---o123`, `BFCL_java_0`, `JME_17` and the like. */
export const dataSetOf = (id: string): string => (id.includes("---") ? id.split("---") : id.split("_"))[0] ?? id;

const memberOf = (node: Node | undefined, name: string): Node | undefined => membersOf(node).get(name);

/** Reads the members of an object. As in Python, a repeated name keeps its first position and its last value. */
function membersOf(node: Node | undefined): ReadonlyMap<string, Node> {
  const members = node?.type === "object" ? (node.children ?? []) : [];
  return new Map(
    members.flatMap(({ children: [name, value] = [] }) => (name && value ? [[String(name.value), value]] : [])),
  );
}

/** Writes a value as Python's `json.dumps` does after reading it: separators `", "` and `": "`, and Python's form of numbers. */
export function pythonJson(node: Node, text: string): string {
  if (node.type === "array") return `[${(node.children ?? []).map((item) => pythonJson(item, text)).join(", ")}]`;
  if (node.type === "object") {
    const members = Array.from(
      membersOf(node),
      ([name, value]) => `${JSON.stringify(name)}: ${pythonJson(value, text)}`,
    );
    return `{${members.join(", ")}}`;
  }
  if (node.type !== "number") return JSON.stringify(node.value);
  return pythonNumber(text.slice(node.offset, node.offset + node.length));
}

/** Writes a number as Python does: integers unchanged, others with an exponent below 1e-4 and from 1e16 on. */
function pythonNumber(source: string): string {
  if (/^-?\d+$/.test(source)) return source === "-0" ? "0" : source;
  const value = Number(source);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (power >= -4 && power < 16) return Number.isInteger(value) ? `${value}.0` : String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
