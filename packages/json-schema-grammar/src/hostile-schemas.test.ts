import { describe, expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";
import { ComplexityBudget, SchemaTooComplexError } from "./complexity-budget.ts";
import type { Schema } from "./dialect/raw-schema.ts";
import { explainSchema } from "./explain-schema.ts";
import { satisfies } from "./validate-value.ts";

/** Schemas that would overflow the call stack of a recursive reader. Each is compiled or refused, and nothing is thrown. */

const levels = 100_000;

function nest(count: number, wrap: (inner: unknown, level: number) => unknown, innermost: unknown = true): unknown {
  let value = innermost;
  for (let level = count; level > 0; level -= 1) value = wrap(value, level);
  return value;
}

const schema = (value: unknown): Schema => value as Schema; // hostile on purpose

const outcomeOf = (hostile: Schema): string => {
  const compiled = compileSchema(hostile);
  return "fault" in compiled ? compiled.fault.reason : "compiled";
};

/**
 * Nested subschemas with an anchor every 100 levels. References to the anchors, innermost first, let the reader exceed its
 * bound of levels. The condition on the items is created first, for the whole schema.
 */
function anchored(count: number, wrap: (inner: unknown) => object): Schema {
  const whole = nest(count, (inner, level) => ({ ...wrap(inner), ...(level % 100 === 0 && { $anchor: `n${level}` }) }));
  const properties = Array.from({ length: count / 100 }, (_, index): [string, Schema] => [
    `p${index}`,
    { $ref: `#n${count - index * 100}` },
  ]);
  return schema({ $defs: { whole }, properties: Object.fromEntries(properties), items: { $ref: "#/$defs/whole" } });
}

const chain = (count: number, link: (next: object) => object): Schema => ({
  $defs: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `d${index}`,
      index === count - 1 ? { type: "string" } : link({ $ref: `#/$defs/d${index + 1}` }),
    ]),
  ),
  $ref: "#/$defs/d0",
});

describe("a schema that nests deeper than the call stack", () => {
  test.each<[string, unknown]>([
    ["properties", nest(levels, (inner) => ({ properties: { a: inner } }))],
    ["items", nest(levels, (inner) => ({ items: inner }))],
    ["not", nest(levels, (inner) => ({ not: inner }))],
    ["allOf", nest(levels, (inner) => ({ allOf: [inner] }))],
    ["a literal of arrays", { const: nest(levels, (inner) => [inner]) }],
    ["a literal of objects", { enum: [nest(levels, (inner) => ({ a: inner }))] }],
    [
      "a member that is not a keyword, behind a reference",
      {
        unknown: nest(levels, (inner) => ({ properties: { a: inner } })),
        $ref: "#/unknown",
      },
    ],
  ])("is refused: %s", (_title, hostile) => {
    expect(outcomeOf(schema(hostile))).toContain("too large to enforce");
    expect(explainSchema(schema(hostile)).fault?.reason).toContain("too large to enforce");
  });

  test.each<[string, unknown]>([
    ["definitions that nothing uses", { $defs: { a: nest(levels, (inner) => ({ items: inner })) } }],
    ["an example", { examples: nest(levels, (inner) => [inner]) }],
    ["a member that is not a keyword", { unknown: nest(levels, (inner) => [inner]) }],
  ])("is compiled where no value depends on the depth: %s", (_title, hostile) => {
    expect(outcomeOf(schema(hostile))).toBe("compiled");
    expect(explainSchema(schema(hostile)).fault).toBeUndefined();
  });

  test("is refused where references lead into it at many depths", () => {
    const hostile = anchored(4000, (inner) => ({ properties: { a: inner }, minProperties: 1 }));
    expect(outcomeOf(hostile)).toBe("subschemas are nested on more than 256 levels");
  });
});

describe("a long chain of references", () => {
  test.each<[string, (next: object) => object]>([
    ["$ref", (next) => next],
    ["allOf", (next) => ({ allOf: [next] })],
    ["not", (next) => ({ not: next })],
    ["anyOf", (next) => ({ anyOf: [next, { type: "null" }] })],
    ["propertyNames", (next) => ({ propertyNames: next })],
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    ["if", (next) => ({ if: next, then: { required: ["a"] } })],
    ["items", (next) => ({ items: next })],
    ["contains", (next) => ({ contains: next })],
  ])("through %s has an outcome", (_title, link) => {
    expect(outcomeOf(chain(1200, link))).toMatch(/^compiled$|more than|too (large|much)/);
  });
});

describe("a huge pattern", () => {
  test.each<[string, string, string]>([
    ["groups on many levels", `${"(".repeat(3000)}a${")".repeat(3000)}`, "more than 250 levels"],
    ["groups that are never closed", "(".repeat(50_000), "more than 250 levels"],
    ["classes that are never closed", "[".repeat(100_000), "it is not an ECMA-262 regular expression"],
    ["many alternatives", "a|".repeat(50_000), "repeats too much"],
    ["many characters", "a".repeat(110_000), "repeats too much"],
    ["repetitions of repetitions", "(((a{1,1000}){1,1000}){1,1000})", "repeats too much"],
  ])("is refused: %s", (_title, pattern, reason) => {
    expect(outcomeOf({ pattern })).toContain(reason);
  });

  test("of parentheses that open no group is compiled", () => {
    expect(outcomeOf({ pattern: `^${String.raw`\(`.repeat(300)}[${"(".repeat(300)}]$` })).toBe("compiled");
    expect(outcomeOf({ pattern: `^${"(".repeat(250)}a${")".repeat(250)}$` })).toBe("compiled");
  });
});

describe("a value that is not JSON", () => {
  const circle: { itself?: unknown } = {};
  circle.itself = circle;

  test.each<[string, unknown]>([
    ["a text", "object"],
    ["null", null],
    ["a list", []],
    ["nothing", undefined],
    ["a big integer", { const: 10n }],
    ["a function", { enum: [() => true] }],
    ["an object that contains itself", { const: circle }],
  ])("is refused as a schema: %s", (_title, value) => {
    expect(outcomeOf(schema(value))).toMatch(/is an object, true or false|not valid JSON Schema|too large/);
  });

  test("is refused where it is validated", () => {
    const deep = nest(levels, (inner) => [inner]);
    for (const hostile of [
      { enum: [1] },
      { items: { uniqueItems: true } },
      { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" },
    ])
      expect(() => satisfies(hostile, deep, new ComplexityBudget())).toThrow(SchemaTooComplexError);
  });
});
