import { expect, test } from "vitest";
import { lastSlice, sharedSlices, sliceTokens } from "./slices.ts";

const tokens = (length: number, from = 0): number[] => Array.from({ length }, (_, index) => from + index);

test.each([
  [0, 0],
  [1, 0],
  [sliceTokens, 0],
  [sliceTokens + 1, sliceTokens],
  [3 * sliceTokens, 2 * sliceTokens],
])("the last slice of %i tokens begins at %i", (length, want) => {
  expect(lastSlice(tokens(length))).toBe(want);
});

test.each<[string, number[], number[], number, number]>([
  ["a prompt that continues another", tokens(300), tokens(200), 200, 192],
  ["the answer to the earlier prompt was not read in slices", tokens(300), tokens(200), 130, 128],
  ["the same prompt: its last slice is read again", tokens(128), tokens(128), 128, 64],
  ["a prompt that parts early", [...tokens(70), ...tokens(70, 500)], tokens(200), 200, 64],
  ["a prompt that parts at once", tokens(200, 1), tokens(200), 200, 0],
  ["an earlier prompt that was given up in the middle", tokens(300), tokens(128), 300, 128],
  ["nothing is known", tokens(300), [], 300, 0],
])("%s", (_title, prompt, known, earlier, want) => {
  expect(sharedSlices(prompt, known, earlier)).toBe(want);
});
