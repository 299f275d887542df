import { fullFormats } from "ajv-formats/dist/formats.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textsOf } from "../../testing/sample-language.ts";
import { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "./language.ts";

/** Checks if ajv-formats accepts a text; undefined where it does not know the format. */
function isValid(format: string, text: string): boolean | undefined {
  const known = (fullFormats as Readonly<Record<string, unknown>>)[format];
  if (known === undefined) return undefined;
  // For this format, ajv-formats checks only numbers.
  if (format === "int64") return undefined;
  const check = typeof known === "object" && known !== null && "validate" in known ? known.validate : known;
  if (check instanceof RegExp) return check.test(text);
  if (typeof check === "function") return (check as (text: string) => boolean)(text);
  throw new Error(`ajv-formats describes ${format} in an unknown way`);
}

const emailOf = (length: number): string => `${"a".repeat(length)}@b.c`;

describe.each<[string, string[], string[]]>([
  [
    "date",
    ["2024-02-29", "2000-02-29", "1999-12-31", "0004-02-29"],
    ["2023-02-29", "1900-02-29", "2024-04-31", "0000-01-01", "24-01-01"],
  ],
  [
    "date-time",
    ["2024-02-29T23:59:59Z", "1990-12-31t15:59:50.123-08:00"],
    ["2024-02-30T00:00:00Z", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-01-01T24:00:00Z"],
  ],
  ["time", ["00:00:00Z", "23:59:59.5+05:30"], ["24:00:00Z", "12:00Z", "12:00:00", "12:00:00+0530"]],
  ["duration", ["P1Y2M3DT4H5M6S", "PT36H", "P2W", "P4Y", "P1DT12H"], ["P", "PT", "P1D2H", "P2D1Y", "P1Y2W", "1D"]],
  [
    "email",
    ["a@b.c", "first.last+tag@sub.example.org", emailOf(64)],
    ["a", "a@b", ".a@b.c", "a..b@c.d", "a@-b.c", "a b@c.d", emailOf(65)],
  ],
  [
    "hostname",
    ["a", "www.example.com", `${"a".repeat(63)}.b`, "a.b.c.d.e.f.g.h"],
    ["", "-a", "a-", "a..b", "a_b", "a.", "ab--c.example", "a".repeat(64)],
  ],
  ["ipv4", ["0.0.0.0", "255.249.199.1"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]],
  [
    "ipv6",
    [
      "::",
      "::1",
      "1:2:3:4:5:6:7:8",
      "1::8",
      "1:2:3:4:5:6:7::",
      "::2:3:4:5:6:7:8",
      "::ffff:1.2.3.4",
      "1:2:3:4:5:6:1.2.3.4",
    ],
    [":", "1", "1:2:3:4:5:6:7", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8"],
  ],
  [
    "uri",
    ["https://user@example.org:8080/a/b;c?d=e#f", "mailto:a@b.c", "urn:isbn:1", "http://[::1]/", "file:///etc/hosts"],
    ["//a/b", "/a", "a", "http://a b", "http://a/%zz", "1a:b"],
  ],
  ["uri-reference", ["", "/a/b", "../c", "#d", "?e", "//host/f", "https://example.org"], ["a b", "\\a", "%", ":a"]],
  [
    "uuid",
    ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
    ["123e4567e89b12d3a456426614174000", "g23e4567-e89b-12d3-a456-426614174000"],
  ],
  [
    "uri-template",
    ["", "http://example.com/~{username}/", "/map?{x,y}", "{+path:6}/here{?q*}"],
    ["{", "{}", "a b", "{a"],
  ],
  ["json-pointer", ["", "/a/b~0c~1d", "/"], ["a", "/~", "/~2"]],
  ["relative-json-pointer", ["0", "1/a", "10#"], ["", "/a", "01", "-1"]],
  [
    "regex",
    ["", "^a+$", "[A-Z][a-z]*", String.raw`^\d{3}-\w+(\.\w+)?$`, "a|(b|c(d)*)"],
    ["(", "a**", "[", "a{", "[z-a]", "(?<=a)"],
  ],
  ["date-time-local", ["2024-02-29T23:59:59.5"], ["2024-02-29T23:59:59Z", "2024-02-30T00:00:00"]],
  ["time-local", ["23:59:59"], ["23:59:59Z", "24:00:00"]],
  [
    "byte",
    ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmE=", "+/+/"],
    ["Zg", "Zg=", "Zh==", "Zm9=", "Z", "Zm9v\n", "-_-_", "===="],
  ],
  ["base64url", ["", "Zg", "Zg==", "Zm8", "Zm8=", "-_-_"], ["Z", "Zg=", "Zh", "+/+/", "Zm9v="]],
  ["char", ["a", "🦀", "\n"], ["", "ab"]],
  ["decimal", ["0", "-1.50", "123456789012345678901234567890.1"], ["", "1.", ".5", "01", "1e5", "+1"]],
  [
    "int64",
    ["0", "-1", "9223372036854775807", "-9223372036854775808", "1000000000000000000"],
    ["-0", "9223372036854775808", "-9223372036854775809", "01", "1.0", "1e3", "10000000000000000000"],
  ],
  [
    "uint64",
    ["0", "18446744073709551615", "9999999999999999999"],
    ["-1", "18446744073709551616", "20000000000000000000"],
  ],
  ["iri", ["https://example.org/ü?q=é"], ["ü", "a b"]],
  ["idn-email", ["ü@example.org"], ["ü"]],
])("the format %s", (format, valid, invalid) => {
  const language = Language.format(format) ?? Language.none;

  test("is what its RFC says", () => {
    expect(valid.filter((text) => !language.includes(text))).toEqual([]);
    expect(invalid.filter((text) => language.includes(text))).toEqual([]);
  });

  test("has no text that ajv-formats refuses", () => {
    fc.assert(
      fc.property(textsOf(language), (text) => {
        expect([text, isValid(format, text)]).not.toEqual([text, false]);
      }),
    );
  });
});

test("an unknown format has no language", () => {
  expect(Language.format("topic")).toBeUndefined();
  expect(Language.format("toString")).toBeUndefined();
});

test.each(["int8", "int32", "float", "double", "password", "binary"])(
  "the format %s says nothing of strings",
  (format) => {
    expect(Language.format(format)).toBeUndefined();
  },
);

test("a number in digits is in the range of 64 bits, or is not", () => {
  const range = fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n });
  fc.assert(
    fc.property(range, (value) => {
      expect(Language.format("int64")?.includes(String(value))).toBe(BigInt.asIntN(64, value) === value);
      expect(Language.format("uint64")?.includes(String(value))).toBe(BigInt.asUintN(64, value) === value);
    }),
  );
});

describe.each(["byte", "base64url", "email", "idn-email", "hostname", "uri", "iri", "uri-reference", "iri-reference"])(
  "the format %s of limited length",
  (format) => {
    test.each([10, 30, 31, 60, 61, 75, 128, 254, 500, 2083])(
      "has texts of at most %i characters, and of the format",
      (most) => {
        const language = Language.shortFormat(format, most, new ComplexityBudget()) ?? Language.any;
        const whole = Language.format(format);
        fc.assert(
          fc.property(textsOf(language), (text) => {
            expect([text, whole?.includes(text), Array.from(text).length <= most]).toEqual([text, true, true]);
          }),
          { numRuns: 30 },
        );
      },
    );
  },
);

test.each([
  [
    "email",
    254,
    [
      `${"a".repeat(64)}@example.org`,
      "first.last+tag@mail.corp.example.co.uk",
      `a@${"b".repeat(63)}.${"c".repeat(63)}`,
    ],
  ],
  ["hostname", 100, ["localhost", "a".repeat(63), "a.b.c.d.e.f.g.h", "api.internal.example.org"]],
  ["hostname", 40, ["a".repeat(40), "www.example.org"]],
  [
    "uri",
    100,
    [
      "https://example.org:8080/a/b;c?d=e",
      "https://example.org/%20a#top",
      "mailto:a@b.c",
      "urn:isbn:0451450523",
      "file:///etc/hosts",
    ],
  ],
  [
    "uri",
    2083,
    [`https://example.org/${"a".repeat(1500)}`, "ipfs://bafybei/1.json", `https://${"a".repeat(200)}.example.org?q=1`],
  ],
  ["uri-reference", 500, ["", "/a/b", "../c", "#d", "?e=1", "//host/f", "a/b?c", "https://example.org/x?y#z"]],
] as const)("the format %s of at most %i characters has texts of usual shape", (format, most, texts) => {
  const language = Language.shortFormat(format, most, new ComplexityBudget()) ?? Language.none;
  expect(texts.filter((text) => !language.includes(text))).toEqual([]);
});

test("only what is long and unusual is left out of a format of limited length", () => {
  const uri = Language.shortFormat("uri", 2083, new ComplexityBudget()) ?? Language.none;
  expect(uri.includes("https://user@example.org/")).toBe(false);
  expect(uri.includes(`https://example.org/${"%20".repeat(40)}`)).toBe(false);
  const counted = Language.shortFormat("uri", 30, new ComplexityBudget()) ?? Language.none;
  expect(counted.includes("https://user@example.org/")).toBe(true);
});
