import type { components } from "../generated/contract.ts";

/** The validated body of a chat request. */
export type ChatRequest = components["schemas"]["ChatCompletionRequest"];
