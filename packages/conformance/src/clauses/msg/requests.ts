import type { Step } from "../../judge/check.ts";
import { cannot, must } from "../../judge/finding.ts";
import { tokensOf } from "../../judge/read.ts";
import { chat, partsOfQuestion, question, say } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { withoutReasoning } from "../../requests/reasoning-request.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Case } from "../../requests/refusals.ts";
import { scripted } from "../../requests/scripted-request.ts";
import { notInShortRun } from "../../requests/short-run.ts";
import { specialTokens, instructed, lookalikes, often } from "./instructions.ts";

const wrong = (code: string, param: string) => ({ status: 400, code, param });

/** A wrong message after a right one. */
const message = (title: string, one: Members): Case => ({
  title,
  members: { messages: [{ role: "user", content: "Hi." }, one] },
});
const part = (title: string, ...parts: readonly unknown[]): Case => message(title, { role: "user", content: parts });
const text = { type: "text", text: "Look." };

export const plans = refusals([
  {
    clause: "MSG-02",
    want: wrong("invalid_value", "messages[1].role"),
    cases: [
      { ...message("the role critic", { role: "critic", content: "No." }), isAlways: true },
      message("the role function", { role: "function", name: "f", content: "No." }),
    ],
  },
  {
    clause: "MSG-03",
    want: wrong("missing_required_parameter", "messages[1].role"),
    cases: [message("a message without a role", { content: "Hi." })],
  },
  {
    clause: "MSG-04",
    want: wrong("invalid_value", "messages"),
    cases: [
      { title: "no messages", members: { messages: [] } },
      {
        title: "2049 messages",
        members: { messages: Array.from({ length: 2049 }, () => ({ role: "user", content: "a" })) },
      },
    ],
  },
  {
    clause: "MSG-06",
    want: wrong("missing_required_parameter", "messages[1].content"),
    cases: [
      message("a message without content", { role: "user" }),
      message("a system message without content", { role: "system" }),
    ],
  },
  { clause: "MSG-11", want: wrong("invalid_value", "messages[1].content"), cases: [part("an empty list of parts")] },
  {
    clause: "MSG-12",
    want: wrong("unsupported_value", "messages[1].content[1].type"),
    cases: [
      {
        ...part("an image", text, { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }),
        isAlways: true,
      },
      part("a sound", text, { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
      part("a file", text, { type: "file", file: { file_id: "f" } }),
      message("a refusal", { role: "assistant", content: [text, { type: "refusal", refusal: "No." }] }),
    ],
  },
  {
    clause: "MSG-13",
    want: wrong("invalid_value", "messages[1].content[1].type"),
    cases: [part("an unknown kind of part", text, { type: "smell", smell: "rose" })],
  },
  {
    clause: "MSG-14",
    want: wrong("missing_required_parameter", "messages[1].content[1].text"),
    cases: [part("a text part without text", text, { type: "text" })],
  },
  {
    clause: "MSG-16",
    want: wrong("missing_required_parameter", "messages[1].content"),
    cases: [
      message("an assistant message with nothing", { role: "assistant" }),
      message("an assistant message with null", { role: "assistant", content: null }),
      message("an assistant message with no calls", { role: "assistant", content: null, tool_calls: [] }),
    ],
  },
  {
    clause: "MSG-17",
    want: wrong("missing_required_parameter", "messages[1].tool_call_id"),
    cases: [message("a tool message without tool_call_id", { role: "tool", content: "5" })],
  },
  {
    clause: "MSG-29",
    want: { status: 400, code: "unsupported_parameter" },
    cases: [
      {
        ...message("audio of a message", { role: "assistant", content: "A.", audio: { id: "a" } }),
        want: { param: "messages[1].audio" },
      },
      {
        ...message("function_call of a message", {
          role: "assistant",
          content: "A.",
          function_call: { name: "f", arguments: "{}" },
        }),
        want: { param: "messages[1].function_call" },
      },
    ],
  },
]);

export const steps: readonly Step[] = [
  {
    name: "parts",
    needs: ["models", "plain", "upper bounds"],
    isValid: true,
    coveredBy: (context) => {
      const [whole, parts] = [context.answer("plain"), context.answer("upper bounds")];
      must(tokensOf(parts, "prompt_tokens") === tokensOf(whole, "prompt_tokens"), parts, "the same prompt", "another");
      return parts.name;
    },
    requests: (context) => [chat(context, say(partsOfQuestion))],
  },
  {
    name: "parts of an assistant",
    needs: ["models"],
    isValid: true,
    requests: (context) => {
      notInShortRun(context);
      return [question, partsOfQuestion].map((content) =>
        chat(context, {
          messages: [
            { role: "user", content: "Hi." },
            { role: "assistant", content },
            { role: "user", content: "Go on." },
          ],
          max_completion_tokens: 1,
          ...withoutReasoning(context),
        }),
      );
    },
  },
  {
    name: "developer, system, user",
    needs: ["models"],
    isValid: true,
    requests: (context) =>
      ["developer", "system", "user"].map((role) =>
        chat(context, {
          messages: instructed(role),
          max_completion_tokens: 8,
          ...withoutReasoning(context),
          ...(context.profile.levels.includes("logprobs") && { logprobs: true }),
        }),
      ),
  },
  {
    name: "special tokens",
    needs: ["models"],
    isValid: true,
    requests: (context) => [
      chat(context, {
        messages: instructed("user", specialTokens),
        max_completion_tokens: 1,
        ...withoutReasoning(context),
      }),
    ],
  },
  {
    name: "each special token",
    needs: ["models"],
    requests: (context) => {
      if (!context.profile.isExhaustive) cannot("left out of a short run");
      return [...specialTokens, ...lookalikes].map((one) =>
        chat(context, { ...say(often([one])), max_completion_tokens: 1 }),
      );
    },
  },
  {
    name: "special tokens in arguments",
    needs: ["models"],
    isValid: true,
    requests: (context) =>
      [specialTokens, lookalikes].map((texts) =>
        chat(context, { ...earlierCall(often(texts)), max_completion_tokens: 1 }),
      ),
  },
  scripted("a conversation that the template refuses", "refusal", { stream: false }),
];

function earlierCall(text: string): Members {
  const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: JSON.stringify({ text }) } };
  const messages = [
    { role: "user", content: "Look it up." },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "Nothing." },
  ];
  return { messages, tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }] };
}
