import type { PreparedPrompt } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { toApiError } from "./engine-failure.ts";
import { contextLengthOf } from "./model-object.ts";
import type { ServedModel } from "./served-model.ts";

const { exactPromptContexts } = contract["x-limits"];

/** A prompt that fits the context window. */
export interface ContextBudget {
  readonly prompt: PreparedPrompt;
  /** The completion tokens that were asked for, lowered to those that the prompt leaves free. */
  readonly maxTokens: number;
}

/**
 * Waits until the model's own tokenizer has counted a prompt.
 * @param askedTokens the maximum of completion tokens that the request asks for
 * @throws {ApiError} 400 `context_length_exceeded`, or the failure of the engine
 */
export async function fitContext(
  model: ServedModel,
  preparing: Promise<PreparedPrompt>,
  askedTokens: number,
): Promise<ContextBudget> {
  const prompt = await preparing.catch((error: unknown) => {
    throw toApiError(error);
  });
  const contextLength = contextLengthOf(model);
  const left = contextLength - prompt.tokens;
  if (left <= 0) throw overflow(contextLength, prompt.tokens, askedTokens);
  return { prompt, maxTokens: Math.min(askedTokens, left) };
}

/** Client libraries search this message for the words "maximum context length is …" and "prompt is too long". */
function overflow(contextLength: number, promptTokens: number, maxTokens: number): ApiError {
  const isExact = promptTokens <= exactPromptContexts.value * contextLength;
  const count = isExact ? promptTokens : `at least ${promptTokens}`;
  const message =
    `This model's maximum context length is ${contextLength} tokens, and the messages have ${count}: the prompt is too long. ` +
    "Send fewer or shorter messages.";
  const details = { context_length: contextLength, prompt_tokens: promptTokens, max_completion_tokens: maxTokens };
  return new ApiError("context_length_exceeded", message, { param: "messages", details });
}
