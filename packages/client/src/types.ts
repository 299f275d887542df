import type { components } from "@parley/contract/types";

/** Short names for the types of the contract. Only the generated file defines them. */
type Schemas = components["schemas"];

/** The message of a {@link Choice}, written by the model. */
export type AnswerMessage = Schemas["AnswerMessage"];
export type ChatMessage = Schemas["ChatMessage"];
export type ChatCompletion = Schemas["ChatCompletion"];
/** A {@link ChatCompletion} made of chunks. It has `usage` only if `stream_options.include_usage` was true. */
export type CollectedCompletion = Omit<ChatCompletion, "usage"> & Partial<Pick<ChatCompletion, "usage">>;
export type ChatCompletionChunk = Schemas["ChatCompletionChunk"];
export type Choice = Schemas["Choice"];
export type ChunkChoice = Schemas["ChunkChoice"];
export type StreamError = Schemas["StreamError"];
/** The data of every event of a stream except the last, which is `[DONE]`. */
export type StreamEvent = Schemas["StreamEvent"];
export type FinishReason = Schemas["FinishReason"];
export type KeyState = Schemas["KeyState"];
export type Model = Schemas["Model"];
export type Receipt = Schemas["Receipt"];
export type ResponseFormat = Schemas["ResponseFormat"];
export type Tool = Schemas["Tool"];
export type ToolCall = Schemas["ToolCall"];
export type ToolCallDelta = Schemas["ToolCallDelta"];
export type TokenLogprob = Schemas["TokenLogprob"];
export type Usage = Schemas["Usage"];

export type ErrorCode = Schemas["ErrorCode"];
export type ErrorDetails = Schemas["ErrorDetails"];
export type ErrorType = Schemas["ErrorType"];

/** The request of {@link Parley.create}: the contract's request without the parameters of streams. */
export type CreateRequest = Omit<Schemas["ChatCompletionRequest"], "stream" | "stream_options">;

/** The request of {@link Parley.stream}: the contract's request. The client adds `stream: true`. */
export type StreamRequest = Omit<Schemas["ChatCompletionRequest"], "stream">;
