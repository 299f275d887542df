import { expect, test } from "vitest";
import { LengthPenalty } from "./length-penalty.ts";

function biasesAfter(written: number, isConstrained: boolean): readonly (readonly [number, number])[] {
  const penalty = new LengthPenalty({ after: 3, perToken: 0.5 }, { ofAnswer: [1], quotes: [7], brackets: [8] });
  for (let token = 0; token < written; token += 1) penalty.accept();
  return [...penalty.biases(isConstrained)];
}

test("an answer below the allowed length has no penalty", () => expect(biasesAfter(3, true)).toEqual([]));

test("then its end is more likely with every token", () => {
  expect(biasesAfter(4, false)).toEqual([[1, 0.5]]);
  expect(biasesAfter(9, false)).toEqual([[1, 3]]);
});

test("under a grammar brackets that close are more likely, too, and quotes even more", () => {
  expect(new Map(biasesAfter(5, true))).toEqual(
    new Map([
      [1, 1],
      [8, 1],
      [7, 2],
    ]),
  );
});
