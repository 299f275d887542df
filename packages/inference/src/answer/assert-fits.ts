import type { EngineMetadata, EngineRequest } from "../engine.ts";
import { RequestRefusedError } from "../request-refused.ts";

/** Undefined before an upstream has reported its limits: then nothing is refused. */
export type Limits = Pick<EngineMetadata, "contextLength"> | undefined;

/**
 * Refuses a request that the engine cannot generate in full. No engine reports this itself: llama.cpp drops the beginning
 * of the conversation, and vLLM shortens the answer.
 * @throws {RequestRefusedError}
 */
export function assertFits(promptTokens: number, { maxTokens }: EngineRequest, limits: Limits): void {
  if (promptTokens === 0) {
    throw new RequestRefusedError("The model's chat template makes an empty prompt of these messages.");
  }
  if (!limits) return;
  if (promptTokens + maxTokens <= limits.contextLength) return;
  throw new RequestRefusedError(
    `The prompt has ${promptTokens} tokens; with ${maxTokens} more it exceeds the context of ${limits.contextLength}.`,
  );
}
