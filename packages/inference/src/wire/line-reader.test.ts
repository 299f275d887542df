import { describe, expect, test } from "vitest";
import { bytesOf, everyCut } from "../../test/cuts.ts";
import { LineReader } from "./line-reader.ts";

function read(pieces: readonly (readonly number[])[], longest?: number): string[] {
  const reader = new LineReader(longest);
  return [...pieces.flatMap((piece) => reader.push(Uint8Array.from(piece))), ...reader.end()];
}

describe("lines", () => {
  test.each([
    ["with an end", '{"a":"🦀"}\nb\n', ['{"a":"🦀"}', "b"]],
    ["without one", "a\nb", ["a", "b"]],
    ["empty ones", "\n\na\n\n", ["a"]],
    ["none", "", []],
    ["a broken character at the end", "a\uFFFD", ["a\uFFFD"]],
  ])("%s are the same however the bytes are cut", (_title, text, want) => {
    for (const pieces of [...everyCut(bytesOf(text)), bytesOf(text).map((byte) => [byte])]) {
      expect(read(pieces)).toEqual(want);
    }
  });

  test("noise without line breaks is passed on in pieces", () => {
    const noise = Array.from({ length: 100 }, () => bytesOf("x".repeat(100)));
    const lines = read(noise, 1000);
    expect(lines.join("")).toHaveLength(10_000);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(1100);
  });
});
