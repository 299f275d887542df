import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { openGrammarMatcher } from "../../testing/match-grammar.ts";
import type { Accepts } from "../../testing/match-grammar.ts";
import { mutated, samples, wildSchemas } from "../../testing/schemas-with-values.ts";
import { compileRules, compileSchema } from "../compile-schema.ts";
import type { Schema } from "../dialect/raw-schema.ts";
import { smallestValue } from "../smallest-value.ts";
import { anyObjectGrammar, toolCallGrammar } from "./complete-grammar.ts";
import type { CallableTool } from "./complete-grammar.ts";
import { ComplexityBudget } from "../complexity-budget.ts";

let matchWith: (grammar: string) => Accepts;
beforeAll(async () => {
  matchWith = await openGrammarMatcher();
});

/** Returns the grammar of a schema; undefined where the schema is refused. */
function acceptsOf(schema: Schema): Accepts | undefined {
  const compiled = compileSchema(schema);
  return "grammar" in compiled ? matchWith(compiled.grammar) : undefined;
}

const node = { type: "object", properties: { value: { type: "integer" }, next: { $ref: "#" } }, required: ["value"] };

describe("a model can write exactly what satisfies the schema", () => {
  test.each<[string, Schema, string[], string[]]>([
    ["a boolean schema", true, ['{"a": [1, "x", null]}', "3"], ["", "{", "[1,]", "01"]],
    [
      "a string",
      { type: "string" },
      ['""', String.raw`"\u00e9\n\ud83e\udd80"`, '"é\u{1F980}"'],
      ["x", '"a', '"a\nb"', '"\\x"'],
    ],
    [
      "no half a character as an escape",
      { type: "string" },
      [],
      [String.raw`"\ud83e"`, String.raw`"\udd80"`, String.raw`"\ud83ex"`],
    ],
    ["an integer", { type: "integer" }, ["0", "-7", "9".repeat(78)], ["1.0", "1e3", "01", "+1", "9".repeat(79)]],
    ["a number", { type: "number" }, ["0", "-7.25", "1e21", "2E-7"], [".5", "1.", "Infinity", "0x1"]],
    ["an integer among numbers", { type: ["integer", "number"] }, ["1.5"], ['"1"']],
    ["an integer that is a number, too", { type: "integer", allOf: [{ type: "number" }] }, ["1"], ["1.5"]],
    [
      "an enumeration",
      { enum: ["a", "ab", 1, null, { x: [true] }] },
      ['"a"', '"ab"', "1", "null", '{"x":[true]}'],
      ['"abc"', '"', "2"],
    ],
    ["an enumeration beside a type", { enum: ["a", 1, 2.5], type: ["integer", "string"] }, ['"a"', "1"], ["2.5"]],
    ["a constant beside an enumeration", { const: "a", enum: ["a", "b"] }, ['"a"'], ['"b"']],
    [
      "no white space but one blank",
      { type: "array", items: { type: "integer" } },
      ["[1,2]", "[1, 2]", "[]"],
      ["[ 1]", "[1,  2]", "[1 ,2]"],
    ],
    ["a list of nothing", { type: "array", items: false }, ["[]"], ["[1]"]],
    [
      "optional members",
      { properties: { a: true, b: true }, type: "object", additionalProperties: false },
      ["{}", '{"a":1}', '{"b":1}', '{"a":1,"b":2}'],
      ['{,"b":1}', '{"a":1,}', '{"c":1}', '{"a":1,"a":2}', '{"b":2,"a":1}'],
    ],
    [
      "undeclared members after the declared ones",
      { properties: { a: { type: "null" } }, type: "object" },
      ["{}", '{"a":null,"b":1}', '{"aa":1,"\\n":2}'],
      ['{"b":1,"a":null}', '{"a":1}', '{"\\u0061":1}', '{"a":null,"a":1}'],
    ],
    [
      "required members in the declared order",
      {
        type: "object",
        properties: { a: { type: "null" }, b: { type: "null" }, c: { type: "null" } },
        required: ["c", "a"],
      },
      ['{"a":null,"c":null}', '{"a": null, "b": null, "c": null}'],
      ["{}", '{"a":null}', '{"c":null,"a":null}'],
    ],
    [
      "a required member that is not declared",
      { type: "object", required: ["x"], additionalProperties: { type: "integer" } },
      ['{"x":1}'],
      ["{}", '{"x":"1"}'],
    ],
    [
      "any member",
      { type: "object", additionalProperties: { type: "integer" } },
      ["{}", '{"x":1,"y":2}'],
      ['{"x":"1"}'],
    ],
    ["no member", { type: "object", additionalProperties: false }, ["{}"], ['{"x":1}']],
    [
      "an optional member that nothing satisfies",
      { type: "object", properties: { a: false, b: true } },
      ["{}", '{"b":1}'],
      ['{"a":1}'],
    ],
    [
      "one of several",
      { anyOf: [{ type: "integer" }, { type: "array", items: { type: "string" } }] },
      ["1", '["x"]'],
      ["[1]", "null"],
    ],
    ["numbers that begin alike", { enum: [1, 12, 123, -1] }, ["1", "12", "123", "-1"], ["13", "2", "-12"]],
    [
      "an alternative whose required member nothing satisfies",
      { anyOf: [{ type: "object", properties: { a: false }, required: ["a"] }, { type: "null" }] },
      ["null"],
      ["{}"],
    ],
    ["an alternative that nothing satisfies", { anyOf: [false, { type: "null" }] }, ["null"], ["1"]],
    [
      "members beside alternatives",
      {
        type: "object",
        properties: { id: { type: "integer" } },
        required: ["id"],
        anyOf: [{ properties: { id: { const: 1 } } }, { required: ["b"] }],
      },
      ['{"id":1}', '{"id":5,"b":null}'],
      ['{"id":5}'],
    ],
    [
      "a schema that contains itself",
      node,
      ['{"value":1}', '{"value":1,"next":{"value":2}}'],
      ['{"next":{"value":2}}', '{"value":1,"next":{}}'],
    ],
    [
      "a definition with an odd name",
      { $defs: { "a/b~c d%": { type: "null" } }, $ref: "#/$defs/a~1b~0c%20d%25" },
      ["null"],
      ["1"],
    ],
    ["a reference into a combination", { anyOf: [{ type: "string" }, { $ref: "#/anyOf/0" }] }, ['"x"'], ["1"]],
    [
      "annotations",
      { title: "t", description: "d", default: 1, examples: [2], deprecated: true, $comment: "c", type: "null" },
      ["null"],
      ["1"],
    ],
  ])("%s", (_title, schema, accepted, refused) => {
    const accepts = acceptsOf(schema);
    expect(accepted.filter((text) => accepts?.(text) !== true)).toEqual([]);
    expect(refused.filter((text) => accepts?.(text) !== false)).toEqual([]);
    const isValid = new Ajv2020({ strict: false }).compile(schema);
    expect(accepted.filter((text) => !isValid(JSON.parse(text)))).toEqual([]);
  });

  test("a member named like the prototype of objects is a member", () => {
    // Only parsed JSON has such a member.
    const accepts = acceptsOf(
      JSON.parse('{"properties": {"__proto__": {"type": "null"}}, "type": "object"}') as Schema,
    );
    expect(accepts?.('{"__proto__":null}')).toBe(true);
    expect(accepts?.('{"__proto__":{}}')).toBe(false);
  });

  test("follows alternatives that begin alike to where they differ", () => {
    const operation = (name: string): object => ({
      type: "object",
      properties: { left: { $ref: "#" }, right: { $ref: "#" }, op: { const: name } },
      required: ["left", "right", "op"],
    });
    const accepts = acceptsOf({ anyOf: [operation("add"), operation("multiply"), { type: "integer" }] });
    expect(accepts?.('{"left":1,"right":{"left":2,"right":3,"op":"multiply"},"op":"add"}')).toBe(true);
    expect(accepts?.('{"left":1,"right":2,"op":"divide"}')).toBe(false);
  });

  test("any JSON object", () => {
    const accepts = matchWith(anyObjectGrammar);
    expect(['{"a":[{"b":1e-7},"\\u0000"],"":null}', "{}"].every(accepts)).toBe(true);
    expect(["[]", "null", "{} ", '{"a"}', "{'a':1}"].some(accepts)).toBe(false);
  });
});

const ajv = (): Ajv2020 => new Ajv2020({ strict: false, validateSchema: false, ownProperties: true });
const runs = 150;

describe("whatever the schema", () => {
  test("its values can be written, and nothing that does not satisfy it", () => {
    fc.assert(
      fc.property(samples, fc.gen(), ({ schema, values }, draw) => {
        const isValid = ajv().compile(schema);
        const accepts = acceptsOf(schema);
        for (const value of values) {
          const changed = draw(mutated, value);
          expect(isValid(value)).toBe(true);
          expect([JSON.stringify(value), accepts?.(JSON.stringify(value))]).toEqual([JSON.stringify(value), true]);
          expect(accepts?.(JSON.stringify(changed)) === true && !isValid(changed)).toBe(false);
        }
      }),
      { numRuns: runs },
    );
  });

  test("a refused schema says why, an accepted one has a smallest value that satisfies it", () => {
    fc.assert(
      fc.property(wildSchemas, fc.jsonValue({ maxDepth: 2 }), fc.gen(), (schema, other, draw) => {
        const accepts = acceptsOf(schema);
        if (!accepts) return;
        const smallest = smallestValue(schema);
        const isValid = ajv().compile(schema);
        expect([smallest, isValid(smallest)]).toEqual([smallest, true]);
        for (const value of [other, draw(mutated, smallest), draw(mutated, smallest)]) {
          expect(accepts(JSON.stringify(value)) && !isValid(value)).toBe(false);
        }
      }),
      { numRuns: runs },
    );
  });
});

describe("the body of a call", () => {
  const parameters = (schema: Schema, index: number): CallableTool["parameters"] => {
    const compiled = compileRules(schema, `tool-${index}`, new ComplexityBudget(), { isObject: true });
    if ("rules" in compiled) return compiled;
    throw new Error(compiled.fault.reason);
  };
  const grammarOf = (): Accepts =>
    matchWith(
      toolCallGrammar([
        { name: "ping", parameters: undefined },
        { name: "anything", parameters: "any" },
        { name: "send", parameters: parameters({ properties: { to: { type: "string" } }, required: ["to"] }, 2) },
        { name: "maybe", parameters: parameters({ type: ["object", "null"], properties: { to: false } }, 3) },
      ]),
    );

  test.each([
    ["a function without parameters", '{"name": "ping", "arguments": {}}', true],
    ["arguments that it does not take", '{"name": "ping", "arguments": {"a": 1}}', false],
    ["a schema that is not enforced", '{"name": "anything", "arguments": {"a": [1]}}', true],
    ["arguments that are not an object", '{"name": "anything", "arguments": [1]}', false],
    ["valid arguments", '{"name": "send", "arguments": {"to": "x"}}', true],
    ["invalid arguments", '{"name": "send", "arguments": {}}', false],
    ["no object although the schema would allow it", '{"name": "maybe", "arguments": null}', false],
    ["a name that was not offered", '{"name": "pin", "arguments": {}}', false],
    ["another form", '{"name":"ping","arguments":{}}', false],
    ["a blank before the line break", '{"name": "ping", "arguments": {}} ', false],
    ["a second line break", '{"name": "ping", "arguments": {}}\n', false],
  ])("%s", (_title, text, want) => {
    expect(grammarOf()(`${text}\n`)).toBe(want);
  });
});
