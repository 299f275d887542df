import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { openGrammarMatcher } from "../testing/match-grammar.ts";
import type { Accepts } from "../testing/match-grammar.ts";
import { parseJson } from "./json/parse-json.ts";
import type { Schema } from "./dialect/raw-schema.ts";
import { smallestValue } from "./smallest-value.ts";
import { satisfies } from "./validate-value.ts";
import { compileSchema } from "./compile-schema.ts";

let matchWith: (grammar: string) => Accepts;
beforeAll(async () => {
  matchWith = await openGrammarMatcher();
});

const read = (schema: string): Schema => parseJson(schema) as Schema;

/** Checks that the grammar of a schema accepts the text, and that the validator of answers does as well. */
function judge(schema: string): (text: string) => boolean {
  const compiled = compileSchema(read(schema));
  if ("fault" in compiled) throw new Error(compiled.fault.reason);
  const matches = matchWith(compiled.grammar);
  return (text) => {
    const isValid = satisfies(read(schema), parseJson(text));
    expect([text, matches(text)]).toEqual([text, isValid]);
    return isValid;
  };
}

const eth = "1000000000000000001";
const uint256 = String(2n ** 256n - 1n);

describe("the grammar and the validator of answers take a number to its last digit", () => {
  test.each([
    ["const", '{"const":9007199254740993}', ["9007199254740993"], ["9007199254740992", "9007199254740994"]],
    ["an amount in wei", `{"const":${eth}}`, [eth], ["1000000000000000000", "1000000000000000002"]],
    [
      "enum",
      '{"enum":[9007199254740993,9007199254740992]}',
      ["9007199254740993", "9007199254740992"],
      ["9007199254740991"],
    ],
    [
      "two bounds that meet",
      '{"type":"integer","minimum":9223372036854775807,"maximum":9223372036854775807}',
      ["9223372036854775807"],
      ["9223372036854775806", "9223372036854775808"],
    ],
    [
      "bounds beside 2^53",
      '{"type":"integer","exclusiveMinimum":9007199254740992,"maximum":9007199254740993}',
      ["9007199254740993"],
      ["9007199254740992", "9007199254740994"],
    ],
    [
      "draft 4's exclusive bounds",
      '{"type":"integer","minimum":9007199254740993,"exclusiveMinimum":true,"maximum":9007199254740994}',
      ["9007199254740994"],
      ["9007199254740993", "9007199254740995"],
    ],
    [
      "256 bits",
      `{"type":"integer","minimum":${uint256},"maximum":${uint256}}`,
      [uint256],
      [`${uint256.slice(0, -1)}4`],
    ],
    ["a const of 256 bits", `{"type":"integer","const":${uint256}}`, [uint256], [`${uint256.slice(0, -1)}4`]],
    ["a fraction", '{"const":0.1000000000000000000001}', ["0.1000000000000000000001"], ["0.1"]],
    ["a small number", '{"const":1e-330}', ["1e-330"], ["0", "1e-329"]],
    [
      "multiples",
      '{"type":"integer","multipleOf":1000000000000000000}',
      ["0", "7000000000000000000"],
      ["7000000000000000001"],
    ],
    [
      "multiples of a fraction",
      '{"type":"number","multipleOf":0.00000000000000000001}',
      ["0.00000000000000000003"],
      [],
    ],
    [
      "not",
      '{"type":"integer","minimum":9007199254740992,"maximum":9007199254740994,"not":{"const":9007199254740993}}',
      ["9007199254740992", "9007199254740994"],
      ["9007199254740993"],
    ],
    [
      "a const in an object",
      `{"const":{"b":[${eth}],"1":true}}`,
      [`{"b":[${eth}],"1":true}`],
      ['{"b":[1000000000000000000],"1":true}'],
    ],
    [
      "a definition",
      `{"$defs":{"wei":{"const":${eth}}},"type":"array","items":{"$ref":"#/$defs/wei"},"minItems":1,"maxItems":1}`,
      [`[${eth}]`],
      ["[1000000000000000000]"],
    ],
    [
      "branches",
      '{"anyOf":[{"const":9007199254740993},{"const":"a"}]}',
      ["9007199254740993", '"a"'],
      ["9007199254740992"],
    ],
    [
      "two consts that are the same number",
      '{"allOf":[{"const":9007199254740993},{"const":9.007199254740993e15}]}',
      ["9007199254740993"],
      [],
    ],
    ["1000 ether in wei", '{"const":1000000000000000000000}', ["1000000000000000000000"], ["1000000000000000000001"]],
    ["one number in two spellings", '{"enum":[1000000000000000000000,1e21]}', ["1000000000000000000000"], ["2e21"]],
    ["1.0, which is 1", '{"const":1.0}', ["1"], ["2"]],
    ["-0, which is 0", '{"const":-0}', ["0"], ["1"]],
    ["any integer of 256 bits", '{"type":"integer"}', [uint256, `-${uint256}`], [`${uint256}.5`]],
    ["any number of 256 bits", '{"type":"number"}', [uint256, `${uint256}.000000000000000001`], ['"1"']],
    ["an object of any values", '{"type":"object"}', [`{"wei":${uint256},"ether":0.000000000000000001}`], [uint256]],
    ["no fewer wei than 2^255", '{"type":"integer","minimum":5.789604461865809e76}', [uint256], [eth]],
  ] as const)("%s", (_title, schema, valid, invalid) => {
    const accepts = judge(schema);
    expect(valid.filter((text) => !accepts(text))).toEqual([]);
    expect(invalid.filter((text) => accepts(text))).toEqual([]);
  });

  test("whatever its length", () => {
    const integer = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n });
    fc.assert(
      fc.property(integer, fc.constantFrom("const", "enum", "bounds"), (value, kind) => {
        const bounds = `{"type":"integer","minimum":${value},"maximum":${value}}`;
        const accepts = judge(kind === "bounds" ? bounds : `{"${kind}":${kind === "enum" ? `[${value}]` : value}}`);
        expect(accepts(String(value))).toBe(true);
        expect([value - 1n, value + 1n].some((other) => accepts(String(other)))).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a number that cannot be enforced", () => {
  test.each([
    ["const", '{"type":"object","properties":{"a":{"const":1e400}}}', "properties.a.const", "1e400"],
    ["inside a const", '{"const":{"a":[1e999999999999]}}', "const", "1e999999999999"],
    ["enum", `{"enum":[1,1${"0".repeat(500)}1]}`, "enum", `1${"0".repeat(39)}…`],
    ["a bound", '{"maximum":1e400}', "maximum", "1e400"],
    ["multipleOf", '{"multipleOf":1e-500}', "multipleOf", "1e-500"],
  ])("is named: %s", (_title, schema, path, shown) => {
    const reason = `the number ${shown} has more than 400 digits when it is written without an exponent`;
    expect(compileSchema(read(schema))).toMatchObject({ fault: { path, reason } });
  });

  test("does not matter where it enforces nothing", () => {
    expect(compileSchema(read('{"type":"integer","default":1e400,"examples":[1e999999999]}'))).toHaveProperty(
      "grammar",
    );
  });
});

describe("members whose names are digits", () => {
  const schema = `{"type":"object","properties":{"b":{"const":1},"10":{"const":{"z":0,"2":0,"1":0}},"9":{"const":2},"a":{"const":3}},
    "required":["b","10","9","a"],"additionalProperties":false}`;
  const answer = '{"b":1,"10":{"z":0,"2":0,"1":0},"9":2,"a":3}';

  test("come in the order of the schema", () => {
    const accepts = judge(schema);
    expect(accepts(answer)).toBe(true);
    const compiled = compileSchema(read(schema));
    const matches = matchWith("grammar" in compiled ? compiled.grammar : "");
    expect(matches('{"9":2,"10":{"z":0,"2":0,"1":0},"b":1,"a":3}')).toBe(false);
    expect(matches('{"b":1,"10":{"1":0,"2":0,"z":0},"9":2,"a":3}')).toBe(false);
  });

  test("are invented in the order of the schema", () => {
    expect(JSON.stringify(smallestValue(read(schema)))).toBe(answer);
  });
});
