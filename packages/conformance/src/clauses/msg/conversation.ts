import type { Check } from "../../judge/check.ts";
import { must } from "../../judge/finding.ts";
import { tokensOf } from "../../judge/read.ts";
import { combinedChecks } from "../../requests/combined-request.ts";
import type { Part } from "../../requests/combined-request.ts";
import type { Answer } from "../../wire/answer.ts";

const call = (id: string) => ({ id, type: "function", function: { name: "get_time", arguments: "{}" } });

function mustNameNothing(answer: Answer): string {
  const named = answer.header("x-ignored-params");
  must(named === undefined, answer, "no header x-ignored-params", `x-ignored-params: ${named}`);
  return "nothing named as ignored";
}

/** One conversation with everything that messages may contain. */
export const conversation: readonly Part[] = [
  {
    clause: "MSG-01",
    how: "Sends a conversation with messages of all five roles.",
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "system", content: "Be kind." },
      { role: "user", content: "What time is it?" },
      { role: "assistant", content: "I look.", tool_calls: [call("call_1")] },
      { role: "tool", tool_call_id: "call_1", content: "12:00" },
      { role: "assistant", content: "Noon." },
    ],
  },
  {
    clause: "MSG-15",
    how: "Sends an assistant message with a null content beside its two calls, and both results.",
    messages: [
      { role: "user", content: "And now?" },
      { role: "assistant", content: null, tool_calls: [call("call_2"), call("call_2b")] },
      { role: "tool", tool_call_id: "call_2", content: "12:01" },
      { role: "tool", tool_call_id: "call_2b", content: "12:01" },
    ],
  },
  {
    clause: "MSG-18",
    how: "Sends an answer back with every member that it may have.",
    messages: [
      {
        role: "assistant",
        content: "A minute later.",
        refusal: null,
        reasoning: "I think.",
        reasoning_content: "I think.",
        annotations: [],
        audio: null,
        function_call: null,
      },
    ],
    judge: mustNameNothing,
  },
  {
    clause: "MSG-19",
    how: "Sends a name on messages of every role.",
    messages: [
      { role: "user", content: "Hello.", name: "ann" },
      { role: "assistant", content: "Hello, Ann.", name: "bot", tool_calls: [call("call_3")] },
      { role: "tool", tool_call_id: "call_3", content: "12:02", name: "clock" },
      { role: "system", content: "Still be brief.", name: "operator" },
      { role: "developer", content: "Still be kind.", name: "maker" },
    ],
    judge: mustNameNothing,
  },
  {
    clause: "MSG-28",
    how: "Sends a system message behind others.",
    messages: [
      { role: "user", content: "So?" },
      { role: "system", content: "Be short." },
    ],
  },
  {
    clause: "MSG-08",
    how: "Sends an empty content.",
    messages: [
      { role: "user", content: "" },
      { role: "user", content: [{ type: "text", text: "" }] },
    ],
  },
  { clause: "MSG-09", how: "Sends a NUL.", messages: [{ role: "user", content: "a\u0000b" }] },
  {
    clause: "MSG-10",
    how: "Sends characters beyond the basic plane, right-to-left text and lone surrogates.",
    messages: [{ role: "user", content: "😀 𝒳 שלום مرحبا \ud800 \udfff a\ud83d" }],
    mayBeRefused: true,
  },
];

const longWords = 1000;

/** A message that is longer than the cuts that are known of servers, and shorter than most context windows. */
export const longMessage: Part = {
  clause: "MSG-31",
  how: `Sends a message of ${longWords} words. Each word takes at least half a token in any vocabulary.`,
  messages: [{ role: "user", content: "tree ".repeat(longWords).trim() }],
  mayBeRefused: true,
  judge: (answer) => {
    const count = tokensOf(answer, "prompt_tokens");
    must(count >= longWords / 2, answer, `at least ${longWords / 2} prompt tokens`, `${count} prompt tokens`);
    return `${count} prompt tokens`;
  },
};

export const conversationChecks: readonly Check[] = [
  ...combinedChecks("nulls and roles", conversation),
  ...combinedChecks("lower bounds and extras", [longMessage]),
];
