import type { components } from "../generated/contract.ts";

/** A body that has passed validation. */
export type ChatRequest = components["schemas"]["ChatCompletionRequest"];
