import { compile } from "@parley/contract/validator";
import type { JsonObject } from "@parley/contract/document";
import { document } from "./contract.ts";

/** The shapes that typed SDKs parse an answer into. Members that are not named here are allowed. */
const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const textOrNull = { type: ["string", "null"] };
const listOrNull = (items: JsonObject): JsonObject => ({ type: ["array", "null"], items });
const objectOf = (required: JsonObject, optional: JsonObject = {}): JsonObject => ({
  type: "object",
  required: Object.keys(required),
  properties: { ...required, ...optional },
});

const usage = {
  ...objectOf({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  type: ["object", "null"],
};
const call = objectOf({ id: text, type: { const: "function" }, function: objectOf({ name: text, arguments: text }) });
const message = objectOf({ role: { const: "assistant" } }, { content: textOrNull, tool_calls: listOrNull(call) });
const piece = objectOf({ index: count }, { id: textOrNull, function: { type: ["object", "null"] } });
const delta = objectOf({}, { role: textOrNull, content: textOrNull, tool_calls: listOrNull(piece) });

const answerOf = (object: string, choice: JsonObject): JsonObject =>
  objectOf(
    { id: text, object: { const: object }, created: count, model: text, choices: { type: "array", items: choice } },
    { usage },
  );

const shapes = {
  completion: answerOf("chat.completion", objectOf({ index: count, message, finish_reason: textOrNull })),
  chunk: answerOf("chat.completion.chunk", objectOf({ index: count, delta }, { finish_reason: textOrNull })),
};

const judges = new Map<keyof typeof shapes, (value: unknown) => string[]>();

/** Faults of an answer, or of an event of a stream, in the shape that every OpenAI-compatible server owes. */
export function commonFaultsOf(shape: keyof typeof shapes, value: unknown): string[] {
  const judge = judges.get(shape) ?? compile(document)(shapes[shape]);
  judges.set(shape, judge);
  return judge(value);
}
