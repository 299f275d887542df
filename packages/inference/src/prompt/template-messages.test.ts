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
  [
    "names",
    [
      { role: "user", content: "a", name: "Ada" },
      { role: "assistant", content: "b", name: null },
      { role: "tool", content: "c", tool_call_id: "1", name: "clock" },
    ],
    [
      { role: "user", content: "a", name: "Ada" },
      { role: "assistant", content: "b" },
      { role: "tool", content: "c", tool_call_id: "1", name: "clock" },
    ],
  ],
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
  expect(toTemplateMessages(messages, "in front")).toEqual(want);
});

test("system messages stay in place, with their names, if the template accepts them there", () => {
  const messages: ChatMessage[] = [
    { role: "user", content: "a" },
    { role: "developer", content: "b", name: "Ada" },
  ];
  expect(toTemplateMessages(messages, "in place")).toEqual([
    { role: "user", content: "a" },
    { role: "system", content: "b", name: "Ada" },
  ]);
});

test("a function without parameters accepts an object without members", () => {
  expect(toTemplateTool({ name: "f", description: undefined, parameters: undefined })).toEqual({
    type: "function",
    function: { name: "f", parameters: { type: "object", properties: {} } },
  });
});
