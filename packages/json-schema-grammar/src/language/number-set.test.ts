import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExactNumber } from "../json/exact-number.ts";
import type { JsonNumber } from "../json/exact-number.ts";
import { ComplexityBudget, SchemaTooComplexError } from "../complexity-budget.ts";
import { NumberSet } from "./number-set.ts";
import type { NumberBounds } from "./number-set.ts";

const enough = new ComplexityBudget(1e9);
const within = (bounds: NumberBounds): NumberSet => NumberSet.within(bounds, false, enough);

/** Numbers of few digits, so that equal and neighbouring ones are often drawn, and some that are far away. */
const decimals = fc.tuple(fc.integer({ min: -1100, max: 1100 }), fc.integer({ min: -3, max: 1 }));
const numbers = fc.oneof(
  decimals.map(([digits, power]) => Number(`${digits}e${power}`)),
  fc.constantFrom(0, -0, 1e19, -1e19, 1e21, 1.5e-7, -2e30, 9007199254740992, -1e-30),
);

describe("a set decides like arithmetic", () => {
  test("about bounds and values", () => {
    fc.assert(
      fc.property(numbers, numbers, (bound, value) => {
        expect(within({ minimum: bound }).includes(value)).toBe(value >= bound);
        expect(within({ maximum: bound }).includes(value)).toBe(value <= bound);
        expect(within({ exclusiveMinimum: bound }).includes(value)).toBe(value > bound);
        expect(within({ exclusiveMaximum: bound }).includes(value)).toBe(value < bound);
        expect(NumberSet.of([bound, 3], enough).includes(value)).toBe(value === bound || value === 3);
      }),
      { numRuns: 60 },
    );
  });

  test("about multiples", () => {
    const divisors = fc.tuple(fc.integer({ min: 1, max: 130 }), fc.integer({ min: -2, max: 3 }));
    fc.assert(
      fc.property(divisors, decimals, ([divisor, divisorPower], [digits, power]) => {
        const multiples = NumberSet.multiplesOf(Number(`${divisor}e${divisorPower}`), enough);
        // Both sides in thousandths, as integers.
        const remainder = (digits * 10 ** (power + 3)) % (divisor * 10 ** (divisorPower + 3));
        expect(multiples.includes(Number(`${digits}e${power}`))).toBe(Math.abs(remainder) === 0);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    [0.01, [0.29, 19.99, -0.07, 5], [0.295, 0.001]],
    [2.5, [0, 5, -2.5, 1e3], [1, 2, 2.55]],
    [1000, [0, 1000, -12_000], [100, 1500]],
    [1e-8, [1.12345678, 3], [1.123456789]],
  ])("about multiples of %d, which binary arithmetic gets wrong", (divisor, multiples, others) => {
    const set = NumberSet.multiplesOf(divisor, enough);
    expect(multiples.filter((value) => !set.includes(value))).toEqual([]);
    expect(others.filter((value) => set.includes(value))).toEqual([]);
  });

  test("about integers, whatever their spelling", () => {
    const integers = NumberSet.integers();
    expect([0, -7, 1e15].every((value) => integers.includes(value))).toBe(true);
    expect(integers.includes(1.5)).toBe(false);
    expect(integers.complement(enough).includes(3)).toBe(false);
    expect(integers.complement(enough).includes(1.5)).toBe(true);
  });
});

const between = (minimum: number, maximum: number): NumberSet => within({ minimum, maximum });

describe("sets", () => {
  test("of integers between bounds are listed", () => {
    const digits = NumberSet.integers().intersect(between(-2, 2.5), enough);
    expect(
      digits
        .integers(5, enough)
        ?.map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual([-2, -1, 0, 1, 2]);
    expect(digits.integers(4, enough)).toBeUndefined();
    expect(between(1, 2).integers(9, enough)).toBeUndefined();
  });

  test("are empty where nothing is left", () => {
    expect(between(3, 2).isEmpty).toBe(true);
    expect(between(0.1, 0.9).intersect(NumberSet.integers(), enough).isEmpty).toBe(true);
    expect(within({ minimum: 3 }).isDisjointFrom(within({ exclusiveMaximum: 3 }), enough)).toBe(true);
    expect(within({ minimum: 3 }).isDisjointFrom(within({ maximum: 3 }), enough)).toBe(false);
  });

  test("have a shortest number", () => {
    expect(NumberSet.any().shortest()).toBe(0);
    expect(within({ exclusiveMinimum: 99.5 }).shortest()).toBeGreaterThan(99.5);
    expect(between(3, 2).shortest()).toBeUndefined();
  });

  test("combine as sets do", () => {
    fc.assert(
      fc.property(numbers, numbers, numbers, (a, b, value) => {
        const [first, second] = [within({ minimum: a }), NumberSet.of([b], enough)];
        const [inFirst, inSecond] = [value >= a, value === b];
        expect(first.union(second, enough).includes(value)).toBe(inFirst || inSecond);
        expect(first.minus(second, enough).includes(value)).toBe(inFirst && !inSecond);
        expect(first.complement(enough).includes(value)).toBe(!inFirst);
        expect(first.complement(enough).complement(enough).key).toBe(first.key);
      }),
      { numRuns: 30 },
    );
  });

  test("that mix multiples with other numbers never hold a number that is in neither", () => {
    const noMultiples = NumberSet.multiplesOf(5, enough)
      .complement(enough)
      .intersect(within({ minimum: 1 }), enough);
    const spellings = noMultiples.written(enough);
    expect(["6", "7.5"].every((text) => spellings.includes(text))).toBe(true);
    expect(["5", "5.0", "1e1", "5e0"].some((text) => spellings.includes(text))).toBe(false);
  });
});

describe("the numbers that a model may write", () => {
  test("are integers without a fraction, and numbers with one or an exponent", () => {
    const integers = NumberSet.integers().written(enough);
    expect(["0", "-12", String(2n ** 256n - 1n)].every((text) => integers.includes(text))).toBe(true);
    expect(["-0", "1.0", "1e3", "01", "9".repeat(79)].some((text) => integers.includes(text))).toBe(false);
    const numbersWritten = NumberSet.any().written(enough);
    expect(["-1.50", "1e100", "2.5E-7", "1e+21"].every((text) => numbersWritten.includes(text))).toBe(true);
    expect(["1e308", "12e3", ".5", "1.", "-0.0", "+1"].some((text) => numbersWritten.includes(text))).toBe(false);
  });

  test("have as many digits as the numbers of the schema, up to 100, however the schema writes them", () => {
    const from = (minimum: JsonNumber) => NumberSet.integers().intersect(within({ minimum }), enough);
    for (const minimum of [1e90, new ExactNumber(`1${"0".repeat(90)}`)])
      expect(from(minimum).written(enough).includes("9".repeat(91))).toBe(true);
    expect(() => from(1e101).written(enough)).toThrow(SchemaTooComplexError);
  });

  test.each([
    [10 ** 18, `115792089237316195423570985008687907853269984665640564039457${"0".repeat(18)}`],
    [7, "9999999999999999999"],
  ])("are multiples of %d with many digits", (divisor, amount) => {
    const written = NumberSet.integers().intersect(NumberSet.multiplesOf(divisor, enough), enough).written(enough);
    expect(written.includes(String(BigInt(amount) - (BigInt(amount) % BigInt(divisor))))).toBe(true);
  });
});

test("the multiples of a number with many digits are refused", () => {
  expect(() => NumberSet.multiplesOf(0.123456789, enough)).toThrow(SchemaTooComplexError);
});
