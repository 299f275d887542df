import type { Generation, FinishReason, OutputToken } from "../../engine.ts";
import { ContentText } from "../../answer/content-text.ts";
import { SchemaTooComplexError } from "@parley/json-schema-grammar/complexity-budget";
import type { Schema } from "@parley/json-schema-grammar";
import { smallestValue } from "@parley/json-schema-grammar";
import type { ScriptStep } from "../script.ts";
import { splitWords, tokenOf } from "./words.ts";

/** A step of the built-in reply, and the tokens of its text. */
export type ReplyStep = ScriptStep & { readonly outputTokens?: readonly OutputToken[] };

/** Returns the answer to a request without a scenario. It is predictable and respects every parameter of the request. */
export function* reply(request: Generation, lastUserText: string, choice: number): Generator<ReplyStep> {
  yield { choice, role: true };
  const reasoning = request.isReasoning ? splitWords("The caller asks something.") : [];
  for (const word of reasoning.slice(0, request.maxTokens)) yield { choice, reasoning: word };
  const tokensLeft = request.maxTokens - reasoning.length;
  if (tokensLeft <= 0) return yield { choice, finish: "length" };
  if (typeof request.toolChoice === "object") {
    return yield* replyWithCall(request, request.toolChoice.oneOf, tokensLeft, choice);
  }
  yield* replyWithText(request, contentFor(request, lastUserText), tokensLeft, choice);
}

// To invent a value, this stub needs the grammar as a tree, but the request carries it as text from another process. So the
// schemas are compiled again here. Engines with a real model use the text.

function contentFor({ format }: Generation, lastUserText: string): string {
  if (format.type === "text") return `You said: ${lastUserText}`;
  if (format.type === "json_object") return JSON.stringify({ text: lastUserText });
  return JSON.stringify(smallestValue(format.schema));
}

function* replyWithText(request: Generation, text: string, tokensLeft: number, choice: number): Generator<ReplyStep> {
  const content = new ContentText(request.stop);
  const words = splitWords(text);
  let held = 0;
  for (const word of words.slice(0, tokensLeft)) {
    held += 1;
    const safe = content.push(tokenOf(word, request.topLogprobs));
    if (safe.text !== "") {
      yield { choice, text: safe.text, outputTokens: safe.tokens, tokens: held };
      held = 0;
    }
    if (safe.isStopped) return yield { choice, finish: "stop", tokens: held };
  }
  const rest = content.flush();
  if (rest.text !== "") yield { choice, text: rest.text, outputTokens: rest.tokens, tokens: held };
  const finish: FinishReason = words.length > tokensLeft ? "length" : "stop";
  yield { choice, finish, tokens: rest.text === "" ? held : 0 };
}

function* replyWithCall(
  request: Generation,
  names: readonly string[],
  tokensLeft: number,
  choice: number,
): Generator<ReplyStep> {
  const tool = request.tools.find(({ name }) => name === names[0]);
  const { parameters } = tool ?? {};
  const words = splitWords(JSON.stringify(parameters === undefined ? {} : argumentsFor(parameters)));
  yield { choice, tool: { index: 0, name: tool?.name ?? "", arguments: "" }, tokens: 0 };
  for (const word of words.slice(0, tokensLeft)) yield { choice, tool: { index: 0, arguments: word } };
  yield { choice, finish: words.length > tokensLeft ? "length" : "tool_calls" };
}

/** A schema that is too complex does not constrain the call, so any object is valid. */
function argumentsFor(parameters: Schema): unknown {
  try {
    return smallestValue(parameters, { isObject: true });
  } catch (error) {
    if (error instanceof SchemaTooComplexError) return {};
    throw error;
  }
}
