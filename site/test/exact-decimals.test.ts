import { expect, test } from "vitest";
import { add, formatDecimal, multiply, parseDecimal } from "../src/browser/exact-decimals.ts";
import { perMillion } from "../src/reference/models-page.ts";

/** The arithmetic of the calculator of costs. */

const decimal = (text: string) => parseDecimal(text) ?? { units: -1n, places: 0 };

test.each([
  ["0.0000003", 1_000_000n, "0.3"],
  ["0.0000003", 3n, "0.0000009"],
  ["0.1", 3n, "0.3"],
  ["12", 0n, "0"],
  ["0.00000000000000000001", 123_456_789n, "0.00000000000123456789"],
])("%s × %s is exactly %s", (price, count, product) => {
  expect(formatDecimal(multiply(decimal(price), count))).toBe(product);
});

test.each([
  ["0.1", "0.2", "0.3"],
  ["0.36", "0.0024", "0.3624"],
  ["1", "0.0000006", "1.0000006"],
])("%s + %s is exactly %s", (one, other, sum) => {
  expect(formatDecimal(add(decimal(one), decimal(other)))).toBe(sum);
});

test.each(["", "-1", "1e5", ".5", "1.", "abc"])("%j is not a price", (text) => {
  expect(parseDecimal(text)).toBeUndefined();
});

test.each([
  ["0.0000003", "0.3"],
  ["0.0000006", "0.6"],
  ["0.000012", "12"],
  ["0", "0"],
  ["1.5", "1500000"],
])("%s a token is %s a million", (price, expected) => {
  expect(perMillion(price)).toBe(expected);
});
