import type { UncompiledRequest } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { toApiError } from "./engine-failure.ts";
import { contextLengthOf } from "./model-object.ts";
import type { ServedModel } from "./served-model.ts";

const { exactPromptContexts } = contract["x-limits"];

/** A request that fits the context window. Its `max_tokens` is lowered to the tokens that the prompt leaves free. */
export interface ContextBudget {
  readonly promptTokens: number;
  readonly request: UncompiledRequest;
}

/** Counts the prompt with the model's own tokenizer. @throws {ApiError} 400 `context_length_exceeded` */
export async function fitContext(
  model: ServedModel,
  request: UncompiledRequest,
  signal: AbortSignal,
): Promise<ContextBudget> {
  const promptTokens = await model.engine.countTokens(request, signal).catch((error: unknown) => {
    throw toApiError(error);
  });
  const contextLength = contextLengthOf(model);
  const left = contextLength - promptTokens;
  if (left <= 0) throw overflow(contextLength, promptTokens, request.maxTokens);
  return { promptTokens, request: { ...request, maxTokens: Math.min(request.maxTokens, left) } };
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
