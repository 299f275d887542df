import { describe, expect, test } from "vitest";
import { bytesOf, everyCut } from "../../test/cuts.ts";
import { readLines } from "./read-lines.ts";

async function* stream(pieces: readonly (readonly number[])[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Uint8Array.from(piece);
}

describe("lines", () => {
  test.each([
    ["with an end", '{"a":"🦀"}\nb\n', ['{"a":"🦀"}', "b"]],
    ["without one", "a\nb", ["a", "b"]],
    ["empty ones", "\n\na\n\n", ["a"]],
    ["none", "", []],
    ["a broken character at the end", "a\uFFFD", ["a\uFFFD"]],
  ])("%s are the same however the bytes are cut", async (_title, text, want) => {
    for (const pieces of [...everyCut(bytesOf(text)), bytesOf(text).map((byte) => [byte])]) {
      expect(await Array.fromAsync(readLines(stream(pieces)))).toEqual(want);
    }
  });

  test("noise without line breaks is given in pieces", async () => {
    const noise = Array.from({ length: 100 }, () => bytesOf("x".repeat(100)));
    const lines = await Array.fromAsync(readLines(stream(noise), 1000));
    expect(lines.join("")).toHaveLength(10_000);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(1100);
  });
});
