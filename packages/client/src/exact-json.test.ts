import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExact, writeExact } from "./exact-json.ts";

const huge = 2n ** 256n - 1n;

/** Any JSON value, with bigints that a number would change. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.bigInt({ min: -huge, max: huge }).filter((one) => String(Number(one)) !== String(one)),
    fc.jsonValue({ maxDepth: 1 }),
    fc.string(),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
  ),
}));

describe("JSON with integers that a number would change", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(value, (one) => {
        const text = writeExact(one) ?? "";
        expect(writeExact(parseExact(text))).toBe(text);
        // Other JSON parsers accept the text, too.
        expect(() => JSON.parse(text)).not.toThrow();
      }),
    );
  });

  test.each<[text: string, want: unknown]>([
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["9007199254740992", 9007199254740992],
    ["1000000000000000000", 1e18],
    ["-18446744073709551616", -(2n ** 64n)],
    ["1000000000000000000000", 10n ** 21n],
    ["1e30", 1e30],
    ["0.12345678901234567890", 0.12345678901234568],
    [String(huge), huge],
    [`1${"0".repeat(400)}`, 10n ** 400n],
    [
      '{"a":"9007199254740993","\\"9007199254740993":[9007199254740993]}',
      { a: "9007199254740993", '"9007199254740993': [9007199254740993n] },
    ],
    ['"bigint:1:2"', "bigint:1:2"],
  ])("%s", (text, want) => {
    expect(parseExact(text)).toEqual(want);
  });

  test.each(["", "9007199254740993 1", "09007199254740993", '{"a":9007199254740993'])("is not %j", (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});

describe("writing", () => {
  test("equals JSON.stringify when there is no bigint", () => {
    const dated = { at: new Date(0), none: undefined, list: [undefined, Number.NaN], own: { toJSON: () => "x" } };
    expect(writeExact(dated)).toBe(JSON.stringify(dated));
    expect(writeExact(undefined)).toBeUndefined();
  });

  test("calls toJSON also when there is a bigint", () => {
    expect(writeExact({ at: new Date(0), wei: huge })).toBe(`{"at":"1970-01-01T00:00:00.000Z","wei":${huge}}`);
  });

  test("of an object that contains itself is a TypeError", () => {
    const circle: Record<string, unknown> = { wei: 1n };
    circle["self"] = circle;
    expect(() => writeExact(circle)).toThrow(TypeError);
  });
});
