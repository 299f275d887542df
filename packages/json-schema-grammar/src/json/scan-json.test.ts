import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanJson, sourceOfMember } from "./scan-json.ts";

const unbounded = { levels: Infinity, values: Infinity };

const children = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];
const countValues = (value: unknown): number =>
  children(value).reduce<number>((sum, child) => sum + countValues(child), 1);
const countLevels = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...children(value).map(countLevels)) : 0;

/** Any JSON value, with strings that look like JSON, and how it is written. */
const written = fc
  .tuple(
    fc.jsonValue().chain((value) => fc.constantFrom(value, { a: JSON.stringify(value), "]": [value, {}, []] })),
    fc.constantFrom(0, 1),
  )
  .map(([value, indent]) => ({ value, text: JSON.stringify(value, undefined, indent) }));

describe("the size of a JSON text", () => {
  test("is that of its value, whatever its strings hold", () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        expect(scanJson(text, unbounded)).toMatchObject({ levels: countLevels(value), values: countValues(value) });
      }),
    );
  });

  test.each(["", "[", "]", '"', '"\\', "[,", "}{"])("is found for %j, too, which is not JSON", (text) => {
    expect(scanJson(text, unbounded).levels).toBeLessThanOrEqual(1);
  });

  test("is looked for no further than the bound", () => {
    const text = `[${"0,".repeat(100_000)}0]`;
    expect(scanJson(text, { levels: 9, values: 10 }).values).toBeLessThan(20);
    expect(scanJson("[".repeat(100_000), { levels: 9, values: 10 }).levels).toBeLessThanOrEqual(10);
  });
});

describe("a text is plain", () => {
  const isPlain = (text: string): boolean => scanJson(text, unbounded).isPlain;

  test.each([
    '{"a":1.5,"b":[100,"10"]}',
    '{"a":"\\"1\\":9007199254740993 1e5"}',
    '{"":0.000001,"-1":-0}',
    "999999999999999",
    '{"minimum":-9007199254740991,"maximum":9007199254740992}',
  ])("without what JSON.parse loses: %s", (text) => {
    expect(isPlain(text)).toBe(true);
  });

  test.each([
    '{"10":1}',
    '{"1" :1}',
    String.raw`{"\u0031":1}`,
    String.raw`{"1\u0031":1}`,
    "[1,-9007199254740993]",
    "1e5",
    "-1.5E+3",
    "[0.0000001]",
    "0.12345678901234567",
  ])("in no other case: %s", (text) => {
    expect(isPlain(text)).toBe(false);
  });
});

describe("how a member of the root is written", () => {
  test.each([
    ['{"seed":1}', "1"],
    ['{ "seed" : 12345678901234567890 , "a":1}', "12345678901234567890"],
    ['{"seed":1,"seed":2.0}', "2.0"],
    ['{"a":{"seed":1},"b":["seed",{"seed":2}],"seed":3}', "3"],
    ['{"a":"\\"seed\\":1","\\u0073eed":4}', "4"],
    ['{"a":"seed","b":[1]}', undefined],
    ['{"seed":[1,{"a":","}],"b":2}', '[1,{"a":","}]'],
    ['{"seed":"a\\\\","b":"}"}', '"a\\\\"'],
    ["{}", undefined],
  ])("%s", (text, want) => {
    expect(sourceOfMember(text, "seed")).toBe(want);
  });

  test("is what JSON.parse reads", () => {
    fc.assert(
      fc.property(written, fc.jsonValue(), ({ value }, seed) => {
        const text = JSON.stringify({ a: value, seed, z: value }, undefined, 1);
        expect(JSON.parse(sourceOfMember(text, "seed") ?? "")).toEqual(JSON.parse(JSON.stringify(seed)));
      }),
    );
  });
});
