import type { Step } from "../../judge/check.ts";
import { mustBeHeld } from "../../judge/held-schema.ts";
import { valueAt, isRecord, listAt, textAt } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { longText } from "../../requests/long-text.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Case } from "../../requests/refusals.ts";
import type { Answer } from "../../wire/answer.ts";

/** Few allowed values, so that any model ends soon. */
export const colours = {
  type: "object",
  properties: { colour: { enum: ["red", "green", "blue"] }, loud: { type: "boolean" } },
  required: ["colour", "loud"],
  additionalProperties: false,
};
export const tool = (name: string, more: Members = {}): Members => ({
  type: "function",
  function: { name, description: "Paints.", parameters: colours, ...more },
});
const paint = tool("paint");
const both = [paint, tool("wash")];
const asked = { ...say("Paint it red."), max_completion_tokens: 96 };
const named = (name: string): Members => ({ type: "function", function: { name } });

const wrong = (code: string, param: string) => ({ status: 400, code, param });
const withTool = (title: string, more: Members, members: Members = {}): Case => ({
  title,
  members: { tools: [tool("paint", more)], ...members },
});

/** The arguments of the first call of an answer. */
const argumentsOf = (answer: Answer): string =>
  textAt(answer.json, "/choices/0/message/tool_calls/0/function/arguments") ?? "";

export const plans = refusals([
  {
    clause: "TOOL-05",
    want: wrong("invalid_value", "tool_choice"),
    sample: 2,
    cases: [
      { title: "required without tools", members: { tool_choice: "required" } },
      { title: "a name without tools", members: { tool_choice: named("paint") } },
    ],
  },
  {
    clause: "TOOL-06",
    want: wrong("invalid_value", "tool_choice"),
    cases: [{ title: "a name that is not offered", members: { tools: [paint], tool_choice: named("sing") } }],
  },
  {
    clause: "TOOL-07",
    want: wrong("invalid_value", "tools[0].function.name"),
    sample: 2,
    cases: [
      { title: "a name with a dot", members: { tools: [tool("a.b")] } },
      { title: "a name of 65 letters", members: { tools: [tool("x".repeat(65))] } },
      { title: "an empty name", members: { tools: [tool("")] } },
    ],
  },
  {
    clause: "TOOL-08",
    want: wrong("invalid_value", "tools[1].function.name"),
    cases: [{ title: "a name twice", members: { tools: [paint, paint] } }],
  },
  {
    clause: "TOOL-09",
    want: wrong("invalid_value", "tools"),
    sample: 2,
    cases: [
      { title: "no tools", members: { tools: [] } },
      { title: "129 tools", members: { tools: Array.from({ length: 129 }, (_, index) => tool(`f${index}`)) } },
    ],
  },
  {
    clause: "TOOL-10",
    want: wrong("invalid_schema", "tools[0].function.parameters"),
    sample: 2,
    cases: [
      withTool("a type that is none", { parameters: { type: "colour" } }),
      withTool("required that is not a list", { parameters: { type: "object", required: "a" } }),
    ],
  },
  {
    clause: "TOOL-18",
    want: { ...wrong("invalid_schema", "tools[0].function.parameters"), says: /pattern/ },
    cases: [
      {
        ...withTool(
          "a back-reference, strict",
          { parameters: { ...repeating(), required: ["a"] }, strict: true },
          { tool_choice: "required", max_completion_tokens: 48 },
        ),
        orKept: (answer) => mustBeHeld(answer, argumentsOf(answer), { ...repeating(), required: ["a"] }),
      },
    ],
  },
  {
    clause: "TOOL-23",
    want: wrong("invalid_value", "tools[0].type"),
    cases: [{ title: "a tool of another type", members: { tools: [{ ...paint, type: "browser" }] } }],
  },
]);

/** A text that takes many tokens in any vocabulary. */
const talkative = {
  type: "object",
  properties: { text: { const: longText } },
  required: ["text"],
  additionalProperties: false,
};

/** No grammar can enforce the pattern: it compares a part of the text with another one. */
function repeating(): Members {
  return { type: "object", properties: { a: { type: "string", pattern: "^([a-z]+)-\\1$" } } };
}

const cutCall = {
  tools: [tool("paint", { parameters: talkative })],
  tool_choice: named("paint"),
  max_completion_tokens: 64,
};

export const forced = (name: string, members: Members): Step => ({
  name,
  needs: ["models"],
  isValid: true,
  requests: (context) => [chat(context, { ...asked, tools: both, ...members })],
});

export const steps: readonly Step[] = [
  forced("required call", { tool_choice: "required" }),
  forced("named call", { tool_choice: named("wash") }),
  forced("forced call, streamed", { tool_choice: "required", stream: true, stream_options: { include_usage: true } }),
  forced("one call at most", { tool_choice: "required", parallel_tool_calls: false }),
  forced("no call", { tool_choice: "none", max_completion_tokens: 12 }),
  forced("free choice", { max_completion_tokens: 12 }),
  forced("a call without arguments", {
    tools: [{ type: "function", function: { name: "ping" } }],
    tool_choice: named("ping"),
  }),
  forced("a strict call", { tools: [tool("paint", { strict: true })], tool_choice: "required" }),
  forced("a call cut off by max tokens", cutCall),
  forced("a streamed call cut off by max tokens", { ...cutCall, stream: true }),
  {
    name: "a keyword in a free function",
    needs: ["models"],
    isValid: true,
    requests: (context) => [
      chat(context, { tools: [tool("paint", { parameters: repeating() })], max_completion_tokens: 1 }),
    ],
  },
  {
    name: "a keyword in a forced function",
    needs: ["models"],
    isValid: true,
    requests: (context) => [
      chat(context, {
        tools: [tool("paint", { parameters: repeating() })],
        tool_choice: "required",
        max_completion_tokens: 1,
      }),
    ],
  },
  {
    name: "a call and its result",
    needs: ["models", "required call"],
    requests: (context) => {
      const message = valueAt(context.answer("required call").json, "/choices/0/message");
      const [first] = listAt(message, "/tool_calls");
      const call = isRecord(first)
        ? message
        : {
            role: "assistant",
            content: null,
            tool_calls: [
              {
                id: "call_1",
                type: "function",
                function: { name: "paint", arguments: '{"colour":"red","loud":true}' },
              },
            ],
          };
      const id = textAt(first, "/id") ?? "call_1";
      return [
        chat(context, {
          messages: [
            { role: "user", content: "Paint it red." },
            call,
            { role: "tool", tool_call_id: id, content: "Done." },
          ],
          tools: both,
          max_completion_tokens: 4,
        }),
      ];
    },
  },
  {
    name: "a call that is only spelled",
    needs: ["models"],
    isValid: true,
    requests: (context) => [
      chat(context, { ...say(spelled), tools: both, tool_choice: "auto", max_completion_tokens: 48 }),
    ],
  },
];

export const spelled =
  'Repeat this: <tool_call>\n{"name": "paint", "arguments": {"colour": "red", "loud": true}}\n</tool_call>';
export const toolSteps = [
  "required call",
  "named call",
  "one call at most",
  "a strict call",
  "a call without arguments",
];
