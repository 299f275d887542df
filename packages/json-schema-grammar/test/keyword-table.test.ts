import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { schemaBounds } from "../src/dialect/read-schema.ts";
import { compileSchema, enforcedKeywords, stepsOfSchema } from "../src/index.ts";
import { formatPatterns } from "../src/language/format-patterns.ts";
import { isKnownFormat } from "../src/language/number-formats.ts";

/** The README says of each keyword if it is enforced and where it is refused. Here each row has schemas that show it. */

const packageDir = join(import.meta.dirname, "..");
const readme = readFileSync(join(packageDir, "README.md"), "utf8");

const objects = { type: "object", properties: { a: true, b: true } };
const list = { type: "array", items: { enum: [1, 2, 3] } };

/** A schema in which the keyword is enforced, one that is refused because of it if there is one, and the kind of refusal. */
type Row = [keyword: string, enforced: object | undefined, refused?: object, kind?: string];

const rows: Row[] = [
  ["type", { type: "string" }],
  ["enum", { enum: [1, "a", { b: [null] }] }],
  ["const", { const: { a: 1 } }],
  ["minimum", { minimum: 0.1 }],
  ["maximum", { maximum: 1e300 }],
  ["exclusiveMinimum", { exclusiveMinimum: 5 }],
  ["exclusiveMaximum", { minimum: 1, maximum: 5, exclusiveMaximum: true }],
  ["multipleOf", { multipleOf: 0.01 }, { multipleOf: 123456789 }, "too complex"],
  ["minLength", { minLength: 2 }, { minLength: 2 ** 24 }, "unenforceable"],
  ["maxLength", { maxLength: 1e6 }],
  ["pattern", { pattern: "^(?!a)[b-y]+z?$" }, { pattern: "(a)\\1" }, "unenforceable"],
  ["format", { format: "date-time" }],
  ["properties", objects],
  [
    "patternProperties",
    { patternProperties: { "^a": { type: "null" } } },
    { patternProperties: { "(?<=a)b": {} } },
    "unenforceable",
  ],
  ["additionalProperties", { ...objects, additionalProperties: false }],
  [
    "unevaluatedProperties",
    { ...objects, unevaluatedProperties: false },
    { allOf: [objects], unevaluatedProperties: false },
    "unenforceable",
  ],
  ["propertyNames", { propertyNames: { pattern: "^[a-z]+$" } }],
  ["required", { required: ["a"] }],
  [
    "minProperties",
    { ...objects, additionalProperties: false, minProperties: 2 },
    { minProperties: 2 },
    "unenforceable",
  ],
  ["maxProperties", { maxProperties: 3 }],
  ["dependentRequired", { dependentRequired: { a: ["b"] } }],
  ["dependentSchemas", { dependentSchemas: { a: { required: ["b"] } } }],
  ["dependencies", { dependencies: { a: ["b"], c: { required: ["d"] } } }],
  ["items", list],
  ["prefixItems", { type: "array", prefixItems: [{ type: "null" }], items: false }],
  ["additionalItems", { items: [{ type: "null" }], additionalItems: false }],
  [
    "unevaluatedItems",
    { prefixItems: [{}], unevaluatedItems: false },
    { anyOf: [{ prefixItems: [{}] }], unevaluatedItems: false },
    "unenforceable",
  ],
  ["contains", { contains: { type: "null" } }],
  ["minContains", { contains: { type: "null" }, minContains: 2 }],
  ["maxContains", { contains: { type: "null" }, maxContains: 2 }],
  ["minItems", { minItems: 2 }, { minItems: 5001 }, "too complex"],
  ["maxItems", { maxItems: 100 }],
  ["uniqueItems", { ...list, uniqueItems: true }, { uniqueItems: true }, "unenforceable"],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 3 }] }],
  ["anyOf", { anyOf: [{ type: "null" }, list] }],
  [
    "oneOf",
    { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    { oneOf: [{ format: "date" }, { maxLength: 10 }] },
    "unenforceable",
  ],
  ["not", { not: { type: "string" } }, { type: "string", not: { format: "date" } }, "unenforceable"],
  [
    "if",
    { if: { required: ["a"] }, else: { required: ["b"] } },
    { if: { format: "date" }, else: { maxLength: 3 } },
    "unenforceable",
  ],
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  ["then", { if: { required: ["a"] }, then: { required: ["b"] } }],
  ["else", { if: { required: ["a"] }, else: { required: ["b"] } }],
  ["$ref", { $defs: { a: { type: "null" } }, $ref: "#/$defs/a" }, { $ref: "https://example.org/schema" }, "malformed"],
  ["$dynamicRef", undefined, { $dynamicRef: "#a" }, "unenforceable"],
  ["$recursiveRef", undefined, { $recursiveRef: "#" }, "unenforceable"],
];

const outcome = (schema: object): string => {
  const compiled = compileSchema(schema);
  return "fault" in compiled ? compiled.kind : "enforced";
};

describe("the table of keywords", () => {
  const table = Array.from(
    readme.matchAll(/^\| (`.+?`) +\| (.+?) +\| (.+?) +\|$/gm),
    ([, names = "", enforced, refused]) =>
      Array.from(names.matchAll(/`([^`]+)`/g), ([, keyword]) => ({ keyword, enforced, refused })),
  ).flat();

  test("has a row for every keyword that constrains values", () => {
    const named = new Set(table.map(({ keyword }) => keyword));
    expect(table.length).toBe(named.size);
    expect(named).toEqual(new Set([...enforcedKeywords, "$dynamicRef", "$recursiveRef"]));
    expect(new Set(rows.map(([keyword]) => keyword))).toEqual(named);
  });

  test.each(rows)("is right about %s", (keyword, enforced, refused, kind) => {
    const row = table.find((one) => one.keyword === keyword);
    expect(row?.enforced === "never").toBe(enforced === undefined);
    expect(row?.refused === "–").toBe(refused === undefined);
    if (enforced) expect(outcome(enforced)).toBe("enforced");
    if (refused) expect(outcome(refused)).toBe(kind);
  });
});

test("the formats of the README are those that are enforced", () => {
  const listed = /^Formats of strings: (.+?)\.$/ms.exec(readme)?.[1] ?? "";
  const names = Array.from(listed.matchAll(/`([^`]+)`/g), ([, name]) => name);
  expect(names).toEqual([...formatPatterns.keys()]);
  const numeric = /^Formats of numbers: (.+?)\.$/ms.exec(readme)?.[1] ?? "";
  const known = Array.from(numeric.matchAll(/`([^`]+)`/g), ([, name = ""]) => isKnownFormat(name));
  expect(known).toEqual(Array.from({ length: 11 }, () => true));
});

test("the bounds of the README are those of the code", () => {
  const { subschemas, levels, characters } = schemaBounds;
  for (const bound of [subschemas, levels, characters, stepsOfSchema])
    expect(readme).toContain(bound.toLocaleString("en"));
});

test.each(["compile", "refuse"])("the example %s prints what the README shows", async (name) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(packageDir, `examples/${name}.ts`)]);
  const shown =
    new RegExp(`<!-- printed by \\S+/${name}\\.ts -->\\n+\`\`\`\\w+\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? "missing";
  const [start = "", ...rest] = shown.split("…\n");
  expect(stdout.startsWith(start)).toBe(true);
  for (const part of rest) expect(stdout).toContain(part);
});
