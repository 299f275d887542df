import { assert, constantFrom, dictionary, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { escapeLineEnds } from "./escape-line-ends.ts";

const character = constantFrom(
  "\u0085",
  "\u2028",
  "\u2029",
  "\\",
  "u2028",
  '"',
  "a",
  "é",
  "汉",
  "🜁",
  "\n",
  "\v",
  "\u001e",
);
const text = oneof(string({ unit: character }), string({ unit: "binary" }));

test("no value changes, and every reader finds one line", () => {
  assert(
    property(dictionary(text, text), (value) => {
      const json = escapeLineEnds(JSON.stringify(value));
      expect(JSON.parse(json)).toEqual(value);
      expect(json).not.toMatch(/[\u0085\u2028\u2029\n\v]/);
    }),
  );
});
