import { beforeAll, describe, expect, test } from "vitest";
import { openGrammarMatcher } from "../testing/match-grammar.ts";
import type { Accepts } from "../testing/match-grammar.ts";
import { parseJson } from "./json/parse-json.ts";
import { compileSchema } from "./compile-schema.ts";
import { satisfies } from "./validate-value.ts";

let matchWith: (grammar: string) => Accepts;
beforeAll(async () => {
  matchWith = await openGrammarMatcher();
});

/** Returns the texts that the grammar of a schema accepts, and checks that the validator of answers agrees. */
function accepted(schema: object, texts: readonly string[]): string[] {
  const compiled = compileSchema(schema);
  if ("fault" in compiled) throw new Error(compiled.fault.reason);
  const matches = matchWith(compiled.grammar);
  return texts.filter((text) => {
    const isValid = satisfies(schema, parseJson(text));
    expect([text, matches(text)]).toEqual([text, isValid]);
    return isValid;
  });
}

describe("formats of the OpenAPI format registry", () => {
  test.each<[format: string, valid: string[], invalid: string[]]>([
    ["int8", ["-128", "0", "127"], ["-129", "128", "1.5"]],
    ["int16", ["-32768", "32767"], ["-32769", "32768"]],
    ["int32", ["-2147483648", "2147483647"], ["-2147483649", "2147483648", "0.5"]],
    ["int64", ["-9223372036854775808", "9223372036854775807"], ["-9223372036854775809", "9223372036854775808", "0.5"]],
    ["uint8", ["0", "255"], ["-1", "256"]],
    ["uint16", ["0", "65535"], ["-1", "65536"]],
    ["uint32", ["0", "4294967295"], ["-1", "4294967296"]],
    ["uint64", ["0", "18446744073709551615"], ["-1", "18446744073709551616"]],
    ["double-int", ["-9007199254740991", "9007199254740991"], ["9007199254740992", "1.5"]],
    ["float", ["1.5", "3.4028234e38", "-3.4e38", "1e-40"], ["3.5e38", "-1e39", "1e300"]],
    ["double", ["1.5", "-1e99"], []],
  ])("%s", (format, valid, invalid) => {
    for (const type of ["number", "integer"]) {
      const isPossible = (text: string): boolean => type === "number" || /^-?\d+$/.test(text);
      const schema = { type, format };
      expect(accepted(schema, [...valid.filter(isPossible), ...invalid])).toEqual(valid.filter(isPossible));
    }
  });

  test("narrow other bounds, and are narrowed by them", () => {
    const bounded = { type: "integer", format: "int32", minimum: 2_147_483_646, maximum: 1e12 };
    expect(accepted(bounded, ["2147483645", "2147483646", "2147483647", "2147483648"])).toEqual([
      "2147483646",
      "2147483647",
    ]);
    expect(accepted({ format: "int8", multipleOf: 100 }, ["-100", "0", "100", "200"])).toEqual(["-100", "0", "100"]);
    expect(accepted({ format: "int8", not: { format: "uint8" } }, ["-128", "-1", "0"])).toEqual(["-128", "-1"]);
    expect(accepted({ format: "uint8", enum: [-1, 0, 255, 256, "a"] }, ["-1", "0", "255", "256", '"a"'])).toEqual([
      "0",
      "255",
      '"a"',
    ]);
  });

  test("apply to values of their types only", () => {
    const texts = ["null", "true", '"a"', "300", "[300]", '{"a":300}'];
    expect(accepted({ format: "int8" }, texts)).toEqual(texts.filter((text) => text !== "300"));
    expect(accepted({ format: "byte" }, ['"Zg=="', '"Zg"', "7"])).toEqual(['"Zg=="', "7"]);
    expect(accepted({ format: "int64" }, ['"1"', '"a"', "1", "1.5"])).toEqual(['"1"', "1"]);
    expect(accepted({ type: ["string", "integer"], format: "int32" }, ['"a"', "1", "3000000000"])).toEqual([
      '"a"',
      "1",
    ]);
  });

  test("cannot be satisfied beside a bound that they exclude", () => {
    expect(compileSchema({ type: "integer", format: "uint8", minimum: 256 })).toHaveProperty("fault");
    expect(compileSchema({ const: 128, format: "int8" })).toHaveProperty("fault");
  });

  test("that say nothing of a value are named as ignored", () => {
    const schema = { type: "string", format: "password" };
    expect(compileSchema(schema)).toMatchObject({ annotations: [{ path: "format" }] });
    expect(compileSchema({ format: "int32" })).toMatchObject({ annotations: [] });
  });

  test("of base64 have a maximum length", () => {
    const short = { type: "string", format: "byte", maxLength: 6 };
    expect(accepted(short, ['"Zm9v"', '"Zm9vYmE="', '""'])).toEqual(['"Zm9v"', '""']);
    const long = { type: "string", format: "byte", maxLength: 6_291_456 };
    expect(accepted(long, [`"${"Zm9v".repeat(500)}"`, '"Zg"'])).toHaveLength(1);
    const middle = { type: "string", format: "byte", maxLength: 4000 };
    expect(accepted(middle, [`"${"Zm9v".repeat(200)}"`])).toHaveLength(1);
  });
});
