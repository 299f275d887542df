import { EngineError } from "../engine.ts";
import type { PreparedPrompt } from "../engine.ts";
import type { PromptTooLongError } from "../prompt/prompt-too-long.ts";
import { transform } from "../wire/transform.ts";

/**
 * Refuses an answer that the engine cannot generate in full. No engine reports this itself: llama.cpp drops the beginning of
 * the conversation, and vLLM shortens the answer.
 * @param contextLength undefined before an upstream has reported it: then nothing is refused
 * @throws {EngineError} `rejected`
 */
export function assertFits(promptTokens: number, maxTokens: number, contextLength: number | undefined): void {
  if (contextLength === undefined || promptTokens + maxTokens <= contextLength) return;
  throw new EngineError(
    "rejected",
    `The prompt has ${promptTokens} tokens; with ${maxTokens} more it exceeds the context of ${contextLength}.`,
  );
}

/** Returns the prepared form of a prompt that was too long to be rendered. It has a count, and its answer is refused. */
export const preparedTooLong = ({ tokens, message }: PromptTooLongError): PreparedPrompt => ({
  tokens,
  stream: () =>
    transform(() => {
      throw new EngineError("rejected", message);
    }),
});
