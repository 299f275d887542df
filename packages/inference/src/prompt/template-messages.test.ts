import { expect, test } from "vitest";
import type { ChatMessage } from "../engine.ts";
import { toTemplateMessages, toTemplateTool } from "./template-messages.ts";

test.each<[string, ChatMessage[], unknown]>([
  [
    "system and developer messages come first as one",
    [
      { role: "user", content: "a" },
      { role: "developer", content: "b" },
      {
        role: "system",
        content: [
          { type: "text", text: "c" },
          { type: "text", text: "d" },
        ],
      },
    ],
    [
      { role: "system", content: "b\n\ncd" },
      { role: "user", content: "a" },
    ],
  ],
  ["a name does not travel", [{ role: "user", content: "a", name: "Ada" }], [{ role: "user", content: "a" }]],
  [
    "reasoning, by its older name",
    [{ role: "assistant", content: "a", reasoning_content: "hm" }],
    [{ role: "assistant", content: "a", reasoning_content: "hm" }],
  ],
  ["no reasoning", [{ role: "assistant", content: "a", reasoning: null }], [{ role: "assistant", content: "a" }]],
  [
    "calls, with arguments that are JSON and that are not",
    [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "1", type: "function", function: { name: "f", arguments: '{"a": 1}' } },
          { id: "2", type: "function", function: { name: "g", arguments: "{a" } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "21" },
    ],
    [
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "1", type: "function", function: { name: "f", arguments: { a: 1 } } },
          { id: "2", type: "function", function: { name: "g", arguments: "{a" } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "21" },
    ],
  ],
])("%s", (_title, messages, want) => {
  expect(toTemplateMessages(messages)).toEqual(want);
});

test("a function without parameters takes an object without members", () => {
  expect(toTemplateTool({ name: "f", description: undefined, parameters: undefined })).toEqual({
    type: "function",
    function: { name: "f", parameters: { type: "object", properties: {} } },
  });
});
