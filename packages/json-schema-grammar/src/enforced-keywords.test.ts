import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { openGrammarMatcher } from "../testing/match-grammar.ts";
import type { Accepts } from "../testing/match-grammar.ts";
import { compileSchema } from "./compile-schema.ts";
import type { SchemaObject } from "./dialect/raw-schema.ts";
import { satisfies } from "./validate-value.ts";

let matchWith: (grammar: string) => Accepts;
beforeAll(async () => {
  matchWith = await openGrammarMatcher();
});

const string = { type: "string" };
const closed = (properties: object, more: object = {}): SchemaObject => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});

describe("a grammar allows what the keyword allows, and the validator of answers says the same", () => {
  test.each<[string, SchemaObject, unknown[], unknown[]]>([
    ["bounds", { type: "integer", minimum: -2, exclusiveMaximum: 12 }, [-2, 0, 11], [-3, 12, 1.5]],
    ["multiples", { type: "integer", multipleOf: 7 }, [0, 14, -21], [1, 13]],
    ["lengths", { ...string, minLength: 2, maxLength: 3 }, ["ab", "a\u{1F980}b"], ["a", "abcd"]],
    ["a pattern", { ...string, pattern: "^a+$" }, ["a", "aaa"], ["", "ab"]],
    ["a pattern beside a length", { ...string, pattern: "b", maxLength: 3 }, ["b", "abc"], ["ac", "aabc"]],
    ["a number of items", { type: "array", items: string, minItems: 1, maxItems: 2 }, [["a"], ["a", "b"]], [[], [1]]],
    [
      "first items",
      { type: "array", prefixItems: [string, { type: "null" }], items: false },
      [[], ["a"], ["a", null]],
      [[null], ["a", null, 1]],
    ],
    [
      "items that differ",
      { type: "array", items: { enum: ["a", "b", 1] }, uniqueItems: true },
      [[], ["a", "b"], [1, "a", "b"]],
      [["a", "a"], [2]],
    ],
    [
      "an item of a kind",
      { type: "array", items: { type: ["string", "null"] }, contains: { type: "null" } },
      [[null], ["a", null, "b", null]],
      [[], ["a"]],
    ],
    [
      "few items of a kind",
      { type: "array", items: { type: ["string", "null"] }, contains: { type: "null" }, maxContains: 1 },
      [[null], ["a", null, "b"]],
      [[], ["a"], [null, null]],
    ],
    [
      "names by pattern",
      { type: "object", patternProperties: { "^a": { type: "null" } }, additionalProperties: string },
      [{}, { ab: null, b: "x" }],
      [{ ab: "x" }, { b: null }],
    ],
    [
      "names by schema",
      { type: "object", propertyNames: { pattern: "^[a-z]+$" } },
      [{}, { ab: 1 }],
      [{ A: 1 }, { "a b": 1 }],
    ],
    ["one member at least", { type: "object", minProperties: 1 }, [{ a: 1 }], [{}]],
    [
      "a number of members",
      closed({ a: true, b: true, c: true }, { minProperties: 2, maxProperties: 2 }),
      [
        { a: 1, b: 1 },
        { b: 1, c: 1 },
      ],
      [{ a: 1 }, { a: 1, b: 1, c: 1 }],
    ],
    [
      "members that need others",
      closed({ a: true, b: true }, { dependentRequired: { a: ["b"] } }),
      [{}, { b: 1 }, { a: 1, b: 1 }],
      [{ a: 1 }],
    ],
    [
      "all of",
      {
        allOf: [
          { type: "object", properties: { a: string } },
          { properties: { a: { minLength: 2 } }, required: ["a"] },
        ],
      },
      [{ a: "xy" }, { a: "xy", b: 1 }],
      [{}, { a: "x" }],
    ],
    [
      "one of, which overlap",
      { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      [{ a: 1 }, { b: 1, c: 2 }],
      [{}, { a: 1, b: 1 }],
    ],
    ["not a type", { not: { type: ["string", "number"] } }, [null, [1], {}], ["a", 1]],
    ["not a value", { ...string, not: { enum: ["a", "ab"] } }, ["", "abc"], ["a", "ab"]],
    ["not a member", { type: "object", not: { required: ["a"] } }, [{}, { b: 1 }], [{ a: 1 }]],
    [
      "if, then and else",
      closed(
        { kind: { enum: ["x", "y"] }, x: string, y: string },
        {
          required: ["kind"],
          if: { properties: { kind: { const: "x" } } },
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: { required: ["x"] },
          else: { required: ["y"] },
        },
      ),
      [
        { kind: "x", x: "" },
        { kind: "y", y: "" },
      ],
      [{ kind: "x", y: "" }, { kind: "y" }],
    ],
    [
      "an identifier that moves references",
      { $id: "https://example.org/a", $defs: { b: { $id: "b", ...string } }, $ref: "b" },
      ["x"],
      [1],
    ],
    ["an anchor", { $defs: { b: { $anchor: "c", ...string } }, $ref: "#c" }, ["x"], [1]],
  ])("%s", (_title, schema, valid, invalid) => {
    const compiled = compileSchema(schema);
    if ("fault" in compiled) throw new Error(compiled.fault.reason);
    const accepts = matchWith(compiled.grammar);
    const isValid = new Ajv2020({ strict: false }).compile(schema);
    for (const value of [...valid, ...invalid]) {
      const want = valid.includes(value);
      const text = JSON.stringify(value);
      expect([text, isValid(value)]).toEqual([text, want]);
      expect([text, accepts(text)]).toEqual([text, want]);
      expect([text, satisfies(schema, value)]).toEqual([text, want]);
    }
  });
});

test("older spellings mean the same", () => {
  const compiled = (schema: SchemaObject): unknown => {
    const result = compileSchema(schema);
    return "grammar" in result ? result.grammar : result.fault;
  };
  expect(compiled({ type: "integer", minimum: 0, exclusiveMinimum: true })).toEqual(
    compiled({ type: "integer", exclusiveMinimum: 0 }),
  );
  expect(compiled({ definitions: { a: string }, $ref: "#/definitions/a" })).toEqual(compiled(string));
  expect(compiled({ type: "array", items: [string], additionalItems: false })).toEqual(
    compiled({ type: "array", prefixItems: [string], items: false }),
  );
  expect(compiled({ type: "object", dependencies: { a: ["b"] } })).toEqual(
    compiled({ type: "object", dependentRequired: { a: ["b"] } }),
  );
});

test("words that are not keywords are listed with their paths", () => {
  const schema = { title: "t", properties: { a: { ...string, maxLenght: 3, format: "path" } }, example: 1 };
  const compiled = compileSchema(schema);
  expect("annotations" in compiled && compiled.annotations).toEqual([
    { path: "example", word: "example" },
    { path: "properties.a.maxLenght", word: "maxLenght" },
    { path: "properties.a.format", word: "format" },
  ]);
});
