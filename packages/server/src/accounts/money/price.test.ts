import { Big } from "big.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addUsd, isAtLeastUsd, priceOf } from "./price.ts";

const pricing = { prompt: "0.0000008", completion: "0.0000035", image: "0", request: "0.001" };

test("a price is exact to the last decimal", () => {
  expect(priceOf({ promptTokens: 3, completionTokens: 7 }, { ...pricing, request: "0" })).toBe("0.0000269");
  expect(priceOf({ promptTokens: 0, completionTokens: 0 }, pricing)).toBe("0.001");
});

test("equals the result of integers that count ten-millionths of a dollar", () => {
  fc.assert(
    fc.property(fc.nat(4_000_000), fc.nat(4_000_000), (prompt, completion) => {
      const units = BigInt(prompt) * 8n + BigInt(completion) * 35n + 10_000n;
      const text = units.toString().padStart(8, "0");
      const expected = `${text.slice(0, -7)}.${text.slice(-7)}`.replace(/\.?0+$/, "");
      expect(priceOf({ promptTokens: prompt, completionTokens: completion }, pricing)).toBe(expected);
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
      expect(priceOf({ promptTokens: prompt, completionTokens: completion }, prices)).toBe(
        expected.plus(prices.request).toFixed(),
      );
    }),
  );
});

test("adding never loses a decimal, and comparing does not round", () => {
  expect(addUsd("0.1", "0.2")).toBe("0.3");
  expect(addUsd("1000000", "0.0000001")).toBe("1000000.0000001");
  expect(isAtLeastUsd("0.9999999999999999999", "1")).toBe(false);
  expect(isAtLeastUsd("1.0", "1")).toBe(true);
});
