import { Big } from "big.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addUsd, isAtLeastUsd, priceOf } from "./price.ts";

const pricing = { prompt: "0.0000008", completion: "0.0000035", image: "0", request: "0.001" };

test("a price is exact to the last decimal", () => {
  expect(priceOf({ promptTokens: 3, cachedTokens: 0, completionTokens: 7 }, { ...pricing, request: "0" })).toBe(
    "0.0000269",
  );
  expect(priceOf({ promptTokens: 0, cachedTokens: 0, completionTokens: 0 }, pricing)).toBe("0.001");
});

test("equals the result of integers that count ten-millionths of a dollar", () => {
  fc.assert(
    fc.property(fc.nat(4_000_000), fc.nat(4_000_000), (prompt, completion) => {
      const units = BigInt(prompt) * 8n + BigInt(completion) * 35n + 10_000n;
      const text = units.toString().padStart(8, "0");
      const expected = `${text.slice(0, -7)}.${text.slice(-7)}`.replace(/\.?0+$/, "");
      expect(priceOf({ promptTokens: prompt, cachedTokens: 0, completionTokens: completion }, pricing)).toBe(expected);
    }),
  );
});

/** Decimals of any length, some with trailing zeros. */
const decimal = fc
  .tuple(fc.nat(9999), fc.stringMatching(/^\d{0,14}$/))
  .map(([whole, part]) => (part === "" ? `${whole}` : `${whole}.${part}`));

test("equals the result of a decimal library, at any prices", () => {
  const pricings = fc.record({ prompt: decimal, completion: decimal, image: fc.constant("0"), request: decimal });
  fc.assert(
    fc.property(pricings, fc.nat(), fc.nat(), (prices, prompt, completion) => {
      const expected = new Big(prices.prompt).times(prompt).plus(new Big(prices.completion).times(completion));
      expect(priceOf({ promptTokens: prompt, cachedTokens: 0, completionTokens: completion }, prices)).toBe(
        expected.plus(prices.request).toFixed(),
      );
    }),
  );
});

test("cached tokens have their own price, whose digits are all kept", () => {
  const cheaper = { ...pricing, request: "0", input_cache_read: "0.00000008000000001" };
  expect(priceOf({ promptTokens: 10, cachedTokens: 4, completionTokens: 0 }, cheaper)).toBe("0.00000512000000004");
  expect(priceOf({ promptTokens: 10, cachedTokens: 0, completionTokens: 0 }, cheaper)).toBe("0.000008");
  expect(
    priceOf({ promptTokens: 10, cachedTokens: 10, completionTokens: 0 }, { ...cheaper, input_cache_read: "0" }),
  ).toBe("0");
});

test("cached tokens cost as much as the others where they have no price, and never more of them than the prompt has", () => {
  const use = { promptTokens: 10, completionTokens: 2 };
  expect(priceOf({ ...use, cachedTokens: 7 }, pricing)).toBe(priceOf({ ...use, cachedTokens: 0 }, pricing));
  const cheaper = { ...pricing, input_cache_read: "0.0000001" };
  expect(priceOf({ ...use, cachedTokens: 99 }, cheaper)).toBe(priceOf({ ...use, cachedTokens: 10 }, cheaper));
});

test("equals the result of a decimal library, at any prices and counts of cached tokens", () => {
  const prices = fc.record({ prompt: decimal, completion: decimal, request: decimal, input_cache_read: decimal });
  fc.assert(
    fc.property(prices, fc.nat(1e6), fc.nat(1e6), fc.nat(1e6), (given, cached, others, completion) => {
      const expected = new Big(given.prompt)
        .times(others)
        .plus(new Big(given.input_cache_read).times(cached))
        .plus(new Big(given.completion).times(completion))
        .plus(given.request);
      const usage = { promptTokens: cached + others, cachedTokens: cached, completionTokens: completion };
      expect(priceOf(usage, { ...given, image: "0" })).toBe(expected.toFixed());
    }),
  );
});

test("adding never loses a decimal, and comparing does not round", () => {
  expect(addUsd("0.1", "0.2")).toBe("0.3");
  expect(addUsd("1000000", "0.0000001")).toBe("1000000.0000001");
  expect(isAtLeastUsd("0.9999999999999999999", "1")).toBe(false);
  expect(isAtLeastUsd("1.0", "1")).toBe(true);
});
