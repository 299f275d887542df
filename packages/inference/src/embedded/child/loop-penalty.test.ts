import { expect, test } from "vitest";
import { LoopPenalty } from "./loop-penalty.ts";

const rules = { multiplier: 3, base: 2, allowedTokens: 4, allowedDigits: 6 };

function biasesAfter(...written: readonly number[]): readonly (readonly [number, number])[] {
  const penalty = new LoopPenalty(rules, (token) => token === 0);
  for (const token of written) penalty.accept(token);
  return [...penalty.biases()];
}

test("no token is penalised in an answer that repeats no more than is allowed", () => {
  expect(biasesAfter()).toEqual([]);
  expect(biasesAfter(1, 2, 3, 4, 5, 1, 2, 3)).toEqual([]);
});

test("the next token of a repetition is less likely with each token that was repeated", () => {
  expect(biasesAfter(1, 2, 3, 4, 5, 1, 2, 3, 4)).toEqual([[5, -3]]);
  expect(biasesAfter(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5)).toEqual([[6, -6]]);
});

test("a loop is a repetition of itself", () => {
  expect(biasesAfter(1, 2, 1, 2, 1, 2)).toEqual([[1, -3]]);
  expect(biasesAfter(1, 2, 1, 2, 1, 2, 1)).toEqual([[2, -6]]);
});

test("one token again and again is a loop, too", () => {
  expect(biasesAfter(7, 7, 7, 7)).toEqual([]);
  expect(biasesAfter(7, 7, 7, 7, 7)).toEqual([[7, -3]]);
});

test("a digit may be repeated more often", () => {
  expect(biasesAfter(0, 0, 0, 0, 0, 0)).toEqual([]);
  expect(biasesAfter(0, 0, 0, 0, 0, 0, 0)).toEqual([[0, -3]]);
  expect(biasesAfter(1, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0)).toEqual([[5, -12]]);
});

test("every earlier continuation of a repetition is penalised", () => {
  // Twelve of them were followed by 8, so after twelve more both 8 and another 7 are less likely.
  const run = Array.from({ length: 12 }, () => 7);
  expect(new Set(biasesAfter(...run, 8, ...run).map(([token]) => token))).toEqual(new Set([7, 8]));
});
