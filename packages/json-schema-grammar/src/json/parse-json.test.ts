import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decimalOfText, scientificText } from "./decimal.ts";
import { ExactNumber, compareNumbers, isInteger, toJsonNumber } from "./exact-number.ts";
import { scanJson } from "./scan-json.ts";
import { objectOf, parseJson, parseJsonWith, parseSpelledJson } from "./parse-json.ts";

const digits = fc.stringMatching(/^(0|[1-9]\d{0,40})$/);
const number = fc
  .tuple(
    fc.constantFrom("", "-"),
    digits,
    fc.option(fc.stringMatching(/^\.\d{1,30}$/), { nil: "" }),
    fc.option(fc.stringMatching(/^[eE][-+]?\d{1,3}$/), { nil: "" }),
  )
  .map((parts) => parts.join(""));
const name = fc.oneof(fc.nat(30).map(String), fc.constantFrom("__proto__", "a", "007", "toJSON"), fc.string());
const blank = fc.constantFrom("", " ", "\n\t");

/** A JSON text with any numbers and names, no name twice, without blanks. */
const { document } = fc.letrec<{ document: string }>((tie) => ({
  document: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      number,
      fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
      fc.constantFrom("null", "true"),
    ),
    fc.array(tie("document"), { maxLength: 5 }).map((items) => `[${items.join()}]`),
    fc
      .uniqueArray(fc.tuple(name, tie("document")), { maxLength: 6, selector: ([own]) => own })
      .map((members) => `{${members.map(([own, value]) => `${JSON.stringify(own)}:${value}`).join()}}`),
  ),
}));

const withNumbers = (text: string, write: (number: string) => string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => (token.startsWith('"') ? token : write(token)));
const byValue = (text: string): string => withNumbers(text, (token) => scientificText(decimalOfText(token)));

describe("a JSON text that is read and written again", () => {
  test("has every number and every member in its place", () => {
    fc.assert(
      fc.property(document, (text) => {
        expect(byValue(JSON.stringify(parseJson(text)))).toBe(byValue(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("loses nothing to JSON.parse where it is plain", () => {
    const unbounded = { levels: Infinity, values: Infinity };
    fc.assert(
      fc.property(document, (text) => {
        const read: unknown = scanJson(text, unbounded).isPlain ? JSON.parse(text) : parseJson(text);
        expect(byValue(JSON.stringify(read))).toBe(byValue(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("is the same to the character where spellings are kept", () => {
    fc.assert(
      fc.property(document, (text) => {
        expect(JSON.stringify(parseSpelledJson(text))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  test("may have blanks anywhere", () => {
    fc.assert(
      fc.property(document, blank, (text, space) => {
        const spaced = text.replaceAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) => `${space}${token}${space}`);
        expect(JSON.stringify(parseSpelledJson(spaced))).toBe(text);
      }),
    );
  });

  test("is what JSON.parse makes of it, but for exact numbers", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(JSON.stringify(parseJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("may nest deeper than the call stack", () => {
    const text = `${"[".repeat(100_000)}12345678901234567890${"]".repeat(100_000)}`;
    expect(Array.isArray(parseJson(text))).toBe(true);
  });

  test.each(["", "{", '{"1":}', "12345678901234567890 1", "01234567890123456789", '{"1":2,}'])(
    "is %j in no case",
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );
});

describe("a repeated name", () => {
  test("keeps its first place and its last value", () => {
    expect(JSON.stringify(parseJson('{"b":1,"1":2,"b":12345678901234567891}'))).toBe(
      '{"b":12345678901234567891,"1":2}',
    );
  });
});

describe("an object whose names are digits", () => {
  const value = objectOf([
    ["b", 1],
    ["10", { "9": 1 }],
    ["9", 2],
  ]);

  test("lists, copies and compares like any other object", () => {
    expect(Object.entries(value).map(([own]) => own)).toEqual(["b", "10", "9"]);
    expect(value).toEqual({ b: 1, "10": { "9": 1 }, "9": 2 });
    expect(Object.hasOwn(value, "9") && "10" in value && !("8" in value)).toBe(true);
  });

  test("is a plain object where JavaScript has the same order", () => {
    expect(() =>
      structuredClone(
        objectOf([
          ["1", 2],
          ["b", 1],
        ]),
      ),
    ).not.toThrow();
  });
});

describe("values at paths", () => {
  test("are exact, and the others are what JSON.parse makes of them", () => {
    const exact = '{"b":9007199254740993,"1":0}';
    const text = `{"n":9007199254740993,"tools":[{"f":${exact}},{"f":[1e400],"g":${exact}}],"a":${exact}}`;
    const plain = '{"1":0,"b":9007199254740992}';
    expect(JSON.stringify(parseJsonWith(text, ["tools.*.f", "n", "x"]))).toBe(
      `{"n":9007199254740992,"tools":[{"f":${exact}},{"f":[1e400],"g":${plain}}],"a":${plain}}`,
    );
  });

  test("are numbers of JavaScript where they are neither an array nor an object", () => {
    const paths = ["a.*.b.c", "s.t"];
    for (const text of ['{"a":[{"b":{"c":9007199254740993}}],"s":{"t":1e30}}', '{"a":{"__proto__":1e30},"s":[1e-30]}'])
      expect(parseJsonWith(text, paths)).toEqual(JSON.parse(text));
  });
});

describe("a number", () => {
  test.each([
    "9007199254740993",
    "9223372036854775807",
    "0.1000000000000000000001",
    "1e400",
    "1e-400",
    "-1e309",
    "1000000000000000000000",
    "0.0000001",
  ])("%s is not a double", (text) => {
    expect(toJsonNumber(text)).toBeInstanceOf(ExactNumber);
  });

  test.each(["1.0", "1e2", "9007199254740992", "9223372036854776000", "0.1", "-0", "-0.000e9", "5e-324", "1E+21"])(
    "%s is a double",
    (text) => {
      expect(toJsonNumber(text)).toBe(Number(text));
    },
  );

  test("compares by its digits", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.bigInt({ min: -3n, max: 3n }), (one, step) => {
        const compared = compareNumbers(toJsonNumber(String(one)), toJsonNumber(String(one + step)));
        expect(Math.sign(compared)).toBe(Math.sign(Number(-step)));
      }),
    );
    expect(compareNumbers(toJsonNumber("0.10000000000000000001"), 0.1)).toBeGreaterThan(0);
    expect(compareNumbers(toJsonNumber("-1e400"), 5)).toBeLessThan(0);
  });

  test("is an integer by its digits", () => {
    expect(["9007199254740993", "9007199254740993.0", "1e400"].map((text) => isInteger(toJsonNumber(text)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(isInteger(toJsonNumber("9007199254740993.5"))).toBe(false);
  });
});
