import { expect, test } from "vitest";
import { UnsatisfiableSchemaError } from "./schema-fault.ts";
import type { Schema } from "./dialect/raw-schema.ts";
import { smallestValue } from "./smallest-value.ts";
import { SchemaTooComplexError } from "./complexity-budget.ts";

const smallest = (schema: Schema): unknown => smallestValue(schema);
const node = { type: "object", properties: { next: { $ref: "#" }, n: { type: "integer" } }, required: ["n"] };

test.each<[string, Schema, unknown]>([
  ["anything", true, null],
  ["a string", { type: "string" }, "text"],
  ["a list", { type: "array", items: { type: "string" } }, []],
  ["a literal", { enum: ["a", "b"], type: "string" }, "a"],
  ["an alternative that is possible", { anyOf: [false, { const: 3 }] }, 3],
  [
    "members, optional ones too",
    { type: "object", properties: { a: { type: "boolean" }, b: { type: "null" } }, required: ["a"] },
    { a: true, b: null },
  ],
  ["not for ever", node, { next: { next: { next: { n: 1 }, n: 1 }, n: 1 }, n: 1 }],
])("%s", (_title, schema, want) => {
  expect(smallest(schema)).toEqual(want);
});

test("for parameters it is an object", () => {
  expect(smallestValue(true, { isObject: true })).toEqual({});
});

test("where there is none, or only a vast one, that is said", () => {
  const twice = (index: number): object => ({
    type: "object",
    properties: { a: { $ref: `#/$defs/d${index}` }, b: { $ref: `#/$defs/d${index}` } },
    required: ["a", "b"],
  });
  const levels = Array.from({ length: 30 }, (_, index) => [`d${index}`, twice(index + 1)]);
  const $defs = { ...Object.fromEntries(levels), d30: { type: "null" } };
  expect(() => smallest(false)).toThrow(UnsatisfiableSchemaError);
  expect(() => smallest({ $defs, $ref: "#/$defs/d0" })).toThrow(SchemaTooComplexError);
});
