import { IncompleteAnswerError, MalformedResponseError } from "./errors.ts";
import type { ErrorFacts } from "./errors.ts";
import type { AnswerMessage, ChatMessage, Choice, CollectedCompletion, FinishReason, ToolCall } from "./types.ts";

export interface WholeMessageFacts extends ErrorFacts {
  /** The conversation before the answer, if the caller has not written all of it. */
  readonly messages?: readonly ChatMessage[];
}

/**
 * Returns the message of the first choice, for methods that do not show its finish reason.
 * @throws {IncompleteAnswerError} when it was cut, withheld or refused; {MalformedResponseError} when there is no message
 */
export function wholeMessage(completion: CollectedCompletion, facts: WholeMessageFacts): AnswerMessage {
  const choice = (completion.choices as Choice[] | undefined)?.[0]; // a gateway may have rewritten the answer
  const message = choice?.message;
  if (!choice || !message) throw new MalformedResponseError("The answer has no message.", facts);
  const fault = faultOf(choice);
  if (fault === undefined) return message;
  throw new IncompleteAnswerError(`The answer ${fault}.`, {
    messages: [],
    ...facts,
    completion,
    finishReason: choice.finish_reason ?? null,
    text: message.content ?? "",
    issues: [],
  });
}

/** Checks for a choice that ended before the model was done. A reason of a later version counts as a normal end. */
export const isCut = (reason: FinishReason): boolean => reason === "length" || reason === "content_filter";

/** Checks that a call has an id and a name. Without a name, it is unknown which tool is called. */
export const isNamed = (call: ToolCall | undefined): boolean => Boolean(call?.id && call.function?.name);

function faultOf({ finish_reason: reason, message }: Choice): string | undefined {
  const { content, refusal, tool_calls: calls } = message;
  const call = calls?.at(-1);
  if (refusal) return `is a refusal: ${refusal}`;
  if (!reason) return "has no finish_reason";
  if (isCut(reason)) return `ended with "${reason}", ${placeOf(content ?? "", call)}`;
  if (reason === "tool_calls" && !call) return "asks for tool calls and has none";
  if (calls?.every(isNamed) === false) return "has a tool call without an id or a name";
  return undefined;
}

function placeOf(content: string, call: ToolCall | undefined): string {
  if (call) return `in or after its call of ${JSON.stringify(call.function?.name ?? "")}`;
  return content === "" ? "before any text, and before a tool call had a name" : "in its text";
}
