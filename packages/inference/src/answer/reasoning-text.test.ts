import { expect, test } from "vitest";
import { bytesOf, everyCut } from "../../test/cuts.ts";
import { ReasoningText } from "./reasoning-text.ts";

const read = (parts: readonly (readonly number[])[]): string => {
  const reasoning = new ReasoningText();
  return parts.map((bytes) => reasoning.push(bytes)).join("") + reasoning.flush();
};

test.each([
  ["plain", "So be it.", "So be it."],
  ["line breaks around it", "\n\nSo\n\nbe 🦀.\n\n", "So\n\nbe 🦀."],
  ["blanks stay", " So \n ", " So \n "],
  ["nothing but line breaks", "\n\n\n", ""],
  ["nothing", "", ""],
])("reasoning, %s, is the same however the bytes are split", (_title, text, want) => {
  for (const parts of [...everyCut(bytesOf(text)), bytesOf(text).map((byte) => [byte])]) expect(read(parts)).toBe(want);
});

test("an incomplete character at the end of reasoning stays in it", () => {
  expect(read([[0x61], [0xf0, 0x9f]])).toBe("a\uFFFD");
});
