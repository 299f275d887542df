import type { EngineRequest, FinishReason, OutputToken } from "../../engine.ts";
import { ContentText } from "../../answer/content-text.ts";
import { smallestValue } from "../../schema/smallest-value.ts";
import type { ScriptStep } from "../script.ts";
import { pieceOf, splitWords } from "./words.ts";

/** A step of the built-in reply, with the tokens behind it. */
export type ReplyStep = ScriptStep & { readonly pieces?: readonly OutputToken[] };

/** What a request without a scenario is answered: predictable, and formed as the request demands. */
export function* reply(request: EngineRequest, lastUserText: string, choice: number): Generator<ReplyStep> {
  yield { choice, role: true };
  const thought = request.isReasoning ? splitWords("The caller asks something.") : [];
  for (const word of thought.slice(0, request.max_tokens)) yield { choice, reasoning: word };
  const room = request.max_tokens - thought.length;
  if (room <= 0) return yield { choice, finish: "length" };
  if (typeof request.tool_choice === "object") {
    return yield* replyWithCall(request, request.tool_choice.oneOf, room, choice);
  }
  yield* replyWithText(request, contentFor(request, lastUserText), room, choice);
}

function contentFor({ format }: EngineRequest, lastUserText: string): string {
  if (format.type === "text") return `You said: ${lastUserText}`;
  if (format.type === "json_object") return JSON.stringify({ text: lastUserText });
  return JSON.stringify(smallestValue([format.schema], format.schema));
}

function* replyWithText(request: EngineRequest, text: string, room: number, choice: number): Generator<ReplyStep> {
  const content = new ContentText(request.stop);
  const words = splitWords(text);
  let held = 0;
  for (const word of words.slice(0, room)) {
    held += 1;
    const shown = content.push(pieceOf(word, request.top_logprobs));
    if (shown.text !== "") {
      yield { choice, text: shown.text, pieces: shown.tokens, tokens: held };
      held = 0;
    }
    if (shown.isStopped) return yield { choice, finish: "stop", tokens: held };
  }
  const rest = content.flush();
  if (rest.text !== "") yield { choice, text: rest.text, pieces: rest.tokens, tokens: held };
  const finish: FinishReason = words.length > room ? "length" : "stop";
  yield { choice, finish, tokens: rest.text === "" ? held : 0 };
}

function* replyWithCall(
  request: EngineRequest,
  names: readonly string[],
  room: number,
  choice: number,
): Generator<ReplyStep> {
  const tool = request.tools.find(({ name }) => name === names[0]);
  const { parameters } = tool ?? {};
  const value = parameters === undefined ? {} : smallestValue([{ type: "object" }, parameters], parameters);
  const words = splitWords(JSON.stringify(value));
  yield { choice, tool: { index: 0, name: tool?.name ?? "", arguments: "" }, tokens: 0 };
  for (const word of words.slice(0, room)) yield { choice, tool: { index: 0, arguments: word } };
  yield { choice, finish: words.length > room ? "length" : "tool_calls" };
}
