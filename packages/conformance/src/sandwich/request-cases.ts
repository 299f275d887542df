import type { Case } from "./case.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { judgeRequest } from "./judge-request.ts";
import { plainAnswer } from "./scripts.ts";
import type { Members } from "./scripts.ts";

/** A case that looks at the members of the request. An error of the gateway itself is reported by the runner. */
const asks = (name: string, does: string, rest: Partial<Case>): Case => ({
  name,
  does,
  script: plainAnswer,
  judge: (seen) => [...judgeRequest(seen), ...judgeAnswer(seen)],
  ...rest,
});

const schema = {
  type: "object",
  properties: {
    zebra: { type: "string" },
    apple: { type: "number", multipleOf: 0.01 },
    mango: { enum: ["b", "a", null] },
  },
  required: ["zebra", "apple", "mango"],
  additionalProperties: false,
};
const tool = {
  type: "function",
  function: { name: "look_up", description: "Looks a word up.", parameters: schema, strict: true },
};
const call = { id: "call_Q9z", type: "function", function: { name: "look_up", arguments: '{ "zebra" : "é" }' } };

/** Text that careless services change: composed forms, line ends, joined emoji, separators, and spaces at both ends. */
export const delicateText = "  a\u0301 \u00e1 \r\n\t\u2028👩‍👩‍👧 \u202eabc\u202c <b>&amp;</b> \\n  ";

const members = (name: string, does: string, given: Members): Case => asks(name, does, { members: given });

const headerValues = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "x-request-id": "0b7c3f9e-6d11-4c58-9d0f-2f6f7b1f5a10",
  "idempotency-key": "sandwich-7f3a",
};

export const requestCases: readonly Case[] = [
  members("sampling-members", "Sends every member that steers sampling.", {
    temperature: 0.3,
    top_p: 0.9,
    frequency_penalty: -0.5,
    presence_penalty: 0.25,
    logit_bias: { "11": -100, "262": 5 },
    stop: ["END", "\n\n"],
    seed: 42,
    max_completion_tokens: 77,
  }),
  members("max-tokens", "Sends the old name `max_tokens`.", { max_tokens: 33 }),
  members("zero-values", "Sends zeros, an empty text and `false`, which careless code takes for absent.", {
    temperature: 0,
    top_p: 0.01,
    frequency_penalty: 0,
    seed: 0,
    stream: false,
    user: "",
  }),
  asks("exact-numbers", "Sends numbers that a double or a rewriting service changes.", {
    raw: '"seed":9007199254740993,"temperature":0.30000000000000004,"top_p":1e-1',
  }),
  members("format-members", "Sends a response format with a schema, whose properties have an order.", {
    response_format: { type: "json_schema", json_schema: { name: "fruit", strict: true, schema } },
  }),
  members("tool-members", "Sends tools, a forced call and `parallel_tool_calls`.", {
    tools: [tool],
    tool_choice: { type: "function", function: { name: "look_up" } },
    parallel_tool_calls: false,
  }),
  members("logprob-members", "Asks for log probabilities and two choices.", { logprobs: true, top_logprobs: 3, n: 2 }),
  members("bookkeeping-members", "Sends members that identify or file a request.", {
    user: "user-7",
    metadata: { ticket: "A-1" },
    store: false,
    service_tier: "default",
    reasoning_effort: "low",
    prompt_cache_key: "cache-7",
    safety_identifier: "safe-7",
  }),
  members("unknown-members", "Sends members that only some engines know.", {
    x_engine: { top_k: 20, nested: [1, "two"] },
    top_k: 20,
    min_p: 0.05,
    chat_template_kwargs: { enable_thinking: false },
  }),
  asks("conversation", "Sends every role, a call with its result, and two user messages in a row.", {
    members: { tools: [tool] },
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_Q9z", content: "a word" },
      { role: "assistant", content: "Done.", refusal: null },
      { role: "user", content: "one", name: "Ann" },
      { role: "user", content: "two" },
    ],
  }),
  asks("delicate-text", "Sends text with combined characters, line ends, emoji, separators and outer spaces.", {
    messages: [{ role: "user", content: delicateText }],
  }),
  asks("content-parts", "Sends text parts, an empty one among them, and an image as a data URL.", {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
          { type: "text", text: " two" },
        ],
      },
    ],
  }),
  asks("long-text", "Sends a message of 300,000 characters.", {
    messages: [{ role: "user", content: "0123456789".repeat(30_000) }],
  }),
  asks("tracing-headers", "Sends the headers that follow a request through all services.", {
    headers: headerValues,
  }),
];
