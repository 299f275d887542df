import { expect, test } from "vitest";
import { toCsv, toLines, toTable } from "./table.ts";

test("a table shows no characters that move the cursor or turn the direction of text", () => {
  const name = "a\u001b[2Jb\u202ec\nd\ud800\u2028é😀";
  const shown = "a\uFFFD[2Jb\uFFFDc\uFFFDd\uFFFD\uFFFDé😀";
  expect(toTable(["name"], [[name]])).toBe(`name\n${shown}\n`);
  expect(toLines([["name", name]])).toBe(`name  ${shown}\n`);
});

test.each([
  ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
  ["=1,2", `"'=1,2"`],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["\t=1", "'\t=1"],
  ["a=1", "a=1"],
  ['say "hi"', '"say ""hi"""'],
])("a spreadsheet takes %j in CSV for a text", (cell, written) => {
  expect(toCsv(["name"], [[cell]])).toBe(`name\r\n${written}\r\n`);
});
