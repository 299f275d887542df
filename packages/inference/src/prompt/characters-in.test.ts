import { expect, test } from "vitest";
import { charactersIn } from "./characters-in.ts";

test.each([
  ["a text", "abc", 3],
  ["a list of them", ["abc", "de"], 6],
  ["a number, and nothing", [17, null], 3],
  ["a member, with its name", { content: "abc" }, 11],
  ["a long name deep in a schema", { properties: { ["n".repeat(1000)]: true } }, 1013],
])("counts %s", (_, value, characters) => {
  expect(charactersIn(value)).toBe(characters);
});
