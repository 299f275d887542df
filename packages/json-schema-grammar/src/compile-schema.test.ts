import { describe, expect, test } from "vitest";
import { compileRules } from "./compile-schema.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { SchemaFault } from "./schema-fault.ts";
import type { Schema, SchemaObject } from "./dialect/raw-schema.ts";
import { ComplexityBudget } from "./complexity-budget.ts";

const faultOf = (compiled: CompiledSchema): SchemaFault | undefined =>
  "fault" in compiled ? compiled.fault : undefined;
const findSchemaFault = (schema: Schema, budget = new ComplexityBudget()): SchemaFault | undefined =>
  faultOf(compileRules(schema, "value", budget));
const findParametersFault = (schema: Schema): SchemaFault | undefined =>
  faultOf(compileRules(schema, "tool", new ComplexityBudget(), { isObject: true }));

const string = { type: "string" };

describe("a schema that cannot be enforced is refused by the keyword at fault", () => {
  test.each<[string, Schema, string, string]>([
    ["a keyword that is not enforced", { $dynamicRef: "#a" }, "$dynamicRef", "$dynamicRef"],
    ["deep inside", { properties: { a: { items: { pattern: "(a)\\1" } } } }, "properties.a.items.pattern", "pattern"],
    [
      "in an alternative",
      { anyOf: [string, { type: "array", uniqueItems: true }] },
      "anyOf[1].uniqueItems",
      "uniqueItems",
    ],
    [
      "in a definition that is used",
      { $defs: { a: { minProperties: 3 } }, items: { $ref: "#/$defs/a" } },
      "$defs.a.minProperties",
      "minProperties",
    ],
    ["a bound that is not a number", { minimum: "1" }, "minimum", "minimum"],
    ["a negative length", { maxLength: -1 }, "maxLength", "maxLength"],
    [
      "a length that no answer has",
      { properties: { a: { minLength: 2 ** 24 } } },
      "properties.a.minLength",
      "minLength",
    ],
    [
      "what is left unevaluated beside other schemas",
      { allOf: [{}], unevaluatedProperties: false },
      "unevaluatedProperties",
      "unevaluatedProperties",
    ],
    ["a type that does not exist", { type: "text" }, "type", "type"],
    ["more types than there are", { type: Array.from({ length: 8 }, () => "string") }, "type", "type"],
    ["a required name that is not a string", { required: [1] }, "required", "required"],
    ["no alternatives", { anyOf: [] }, "anyOf", "anyOf"],
    ["a subschema that is none", { items: 1 }, "items", "items"],
    ["a number that JSON cannot write", { enum: [JSON.parse("1e400")] }, "enum", "enum"],
    ["a reference to nothing", { $ref: "#/$defs/a" }, "$ref", "$ref"],
    ["a reference to another document", { $ref: "https://example.org/schema" }, "$ref", "$ref"],
    ["a reference to itself", { $ref: "#" }, "$ref", "$ref"],
    [
      "references in a circle",
      { $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
      "$defs.a.$ref",
      "$ref",
    ],
  ])("%s", (_title, schema, path, keyword) => {
    expect(findSchemaFault(schema)).toMatchObject({ path, keyword });
  });

  test.each<[string, Schema]>([
    ["nothing", false],
    ["a required member that may not be", { type: "object", required: ["a"], additionalProperties: false }],
    ["two types at once", { allOf: [string, { type: "null" }] }],
    ["a literal of another type", { const: 1, type: "string" }],
    ["a chain without an end", { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] }],
  ])("nothing satisfies it: %s", (_title, schema) => {
    expect(findSchemaFault(schema)).toEqual({
      path: "",
      keyword: null,
      reason: expect.stringContaining("no finite JSON value"),
    });
  });

  test.each<[string, Schema, unknown]>([
    ["a type beside others", { properties: { a: string }, required: ["a"], type: ["object", "null"] }, undefined],
    ["no object", string, expect.stringContaining("no finite JSON value")],
    [
      "no object behind a reference",
      { $defs: { a: string }, $ref: "#/$defs/a" },
      expect.stringContaining("no finite JSON value"),
    ],
  ])("parameters must allow an object: %s", (_title, schema, reason) => {
    expect(findParametersFault(schema)?.reason).toEqual(reason);
  });
});

describe("the schema of a function that is not strict", () => {
  const compileLenient = (schema: Schema) =>
    compileRules(schema, "tool", new ComplexityBudget(), { isObject: true, isLenient: true });

  test("is left open where it is too complex", () => {
    const parameters = { type: "object", properties: named(4900, () => string) };
    expect(compileLenient(parameters)).toMatchObject({
      start: "any-object",
      unenforced: [{ path: "", keyword: null }],
    });
  });

  test("is refused as malformed if it is not JSON Schema, even after a keyword that cannot be enforced", () => {
    const parameters = { properties: { a: { $dynamicRef: "#a" }, b: { minLength: "1" } } };
    expect(compileLenient(parameters)).toMatchObject({ fault: { path: "properties.b.minLength" }, kind: "malformed" });
  });

  test("is refused, and not as malformed, where nothing satisfies it", () => {
    expect(compileLenient({ type: "object", maxProperties: 0, required: ["a"] })).toMatchObject({
      kind: "unsatisfiable",
    });
  });
});

const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));
const named = (length: number, item: (index: number) => unknown): SchemaObject =>
  Object.fromEntries(list(length, (index) => [`d${index}`, item(index)]));
const ref = (index: number): SchemaObject => ({ $ref: `#/$defs/d${index}` });
/** Returns a chain of definitions. Each one is made of the next, and the last one is given. */
const chain = (length: number, link: (next: SchemaObject) => object, end: unknown): SchemaObject => ({
  $defs: { ...named(length, (index) => link(ref(index + 1))), [`d${length}`]: end },
  ...ref(0),
});
const twice = (keyword: string) => (next: SchemaObject) => ({ [keyword]: [next, next] });
const holder = (members: object): SchemaObject => ({
  type: "object",
  properties: members,
  required: Object.keys(members),
});
const nested = (levels: number): SchemaObject =>
  list(levels, () => 0).reduce<SchemaObject>((inner) => holder({ a: inner }), string);

/** The check runs on the event loop of the server, so it must be short even on a slow and busy machine. */
const maxCpuMs = 400;

describe("however hostile a schema is, checking it takes little time", () => {
  test.each<[string, Schema, boolean]>([
    ["as many required members as there may be", holder(named(4900, () => string)), true],
    ["more", holder(named(5001, () => string)), false],
    ["400 optional members", { type: "object", properties: named(400, () => string) }, true],
    ["thousands of optional members", { type: "object", properties: named(4900, () => string) }, false],
    ["an enumeration of thousands", { enum: list(4000, (index) => `value ${index}`) }, true],
    ["an enumeration of too many", { enum: list(40_000, (index) => index) }, false],
    ["half a million required names", { type: "object", required: list(500_000, (index) => `p${index}`) }, false],
    [
      "an enumeration beside hundreds of alternatives",
      { enum: list(3000, String), anyOf: list(200, (index) => ({ enum: [String(index)] })) },
      true,
    ],
    ["128 levels", nested(63), true],
    ["more levels", nested(200), false],
    [
      "250 alternatives, told apart",
      { anyOf: list(250, (index) => holder({ kind: { const: index }, [`v${index}`]: string })) },
      true,
    ],
    ["thousands of alternatives", { anyOf: list(4990, (index) => ({ const: index })) }, true],
    ["alternatives that double 60 times", chain(60, twice("anyOf"), string), true],
    ["impossible alternatives that double 60 times", chain(60, twice("anyOf"), false), false],
    ["conjunctions that double 60 times", chain(60, twice("allOf"), string), true],
    [
      "different alternatives that double 60 times",
      chain(60, (next) => ({ anyOf: [{ items: next }, next] }), string),
      false,
    ],
    ["conjunctions of alternatives", { allOf: list(300, (index) => ({ anyOf: [{ const: index }, string] })) }, true],
    [
      "literals validated over alternatives that double",
      { ...chain(60, twice("anyOf"), { type: "integer" }), enum: list(300, (index) => index) },
      true,
    ],
    ["thousands of references in a row", chain(4900, (next) => next, string), true],
    ["thousands of levels over references", chain(1200, (next) => holder({ a: next }), string), true],
    [
      "a list of lists of itself, twice",
      {
        anyOf: [
          { type: "array", items: { $ref: "#" } },
          { type: "array", items: string },
        ],
      },
      true,
    ],
    [
      "objects that begin alike and contain themselves",
      { anyOf: [holder({ a: { $ref: "#" } }), holder({ a: { $ref: "#" }, b: string }), string] },
      true,
    ],
    [
      "the same, told apart",
      { anyOf: [holder({ a: { $ref: "#" }, k: { const: 1 } }), holder({ a: { $ref: "#" }, k: { const: 2 } }), string] },
      true,
    ],
    [
      "arrays of many lengths that begin alike",
      {
        anyOf: list(40, (index) => ({
          type: "array",
          minItems: 10 * index,
          items: { anyOf: [holder({ a: string, [`b${index}`]: string }), { const: index }] },
        })),
      },
      false,
    ],
    [
      "levels that double the parses",
      chain(60, (next) => ({ anyOf: [holder({ a: next }), holder({ a: next, b: string })] }), string),
      true,
    ],
  ])("%s", (_title, schema, isWelcome) => {
    const before = process.cpuUsage();
    const fault = findSchemaFault(schema);
    const { user, system } = process.cpuUsage(before);
    expect(fault === undefined).toBe(isWelcome);
    expect((user + system) / 1000).toBeLessThan(maxCpuMs);
  });

  test("the schemas of one request share what they may cost", () => {
    const budget = new ComplexityBudget();
    const faults = list(128, () => findSchemaFault(holder(named(2000, () => string)), budget));
    expect(faults.filter((fault) => fault === undefined).length).toBeGreaterThan(1);
    expect(faults.at(-1)?.reason).toContain("too much work");
  });
});
