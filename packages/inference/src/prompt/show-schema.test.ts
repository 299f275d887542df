import { describe, expect, test } from "vitest";
import { addToSystemMessage, showSchema } from "./show-schema.ts";

const schema = { type: "object", required: ["b", "a"], properties: { b: { type: "string" }, a: { enum: ["$&"] } } };
const schemaPrompt = "JSON for {schema}";
const line = `JSON for ${JSON.stringify(schema)}`;

describe("the line that shows a schema", () => {
  const most = JSON.stringify(schema).length;

  test.each([
    ["compact, members in their order", { type: "json_schema", schema }, schemaPrompt, most, line],
    ["any object", { type: "json_object" }, schemaPrompt, most, 'JSON for {"type":"object"}'],
    ["no line for text", { type: "text" }, schemaPrompt, most, undefined],
    ["no line of a model that has none", { type: "json_schema", schema }, undefined, most, undefined],
    ["no line for a schema that is too long", { type: "json_schema", schema }, schemaPrompt, most - 1, undefined],
  ] as const)("%s", (_title, format, prompt, maxCharacters, want) => {
    expect(showSchema(format, { schemaPrompt: prompt }, maxCharacters)).toBe(want);
  });
});

describe("the position of the line", () => {
  const user = { role: "user", content: "hi" } as const;

  test.each([
    ["a system message of its own", [user], line, [{ role: "system", content: line }, user]],
    [
      "behind the system message",
      [{ role: "system", content: "Be brief." }, user],
      line,
      [{ role: "system", content: `Be brief.\n\n${line}` }, user],
    ],
    [
      "in an empty system message",
      [{ role: "system", content: "" }, user],
      line,
      [{ role: "system", content: line }, user],
    ],
    ["nowhere", [user], undefined, [user]],
  ] as const)("%s", (_title, messages, shown, want) => {
    expect(addToSystemMessage(messages, shown)).toEqual(want);
  });
});
