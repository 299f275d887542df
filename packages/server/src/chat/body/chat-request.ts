import type { components } from "@parley/contract/types";

/** The validated body of a chat request. */
export type ChatRequest = components["schemas"]["ChatCompletionRequest"];
