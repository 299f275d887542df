import type { components } from "./generated/contract.ts";

/** The nouns of the contract, by the names that people use. The generated file stays the only place that defines them. */
type Schemas = components["schemas"];

/** What the model has written: the message of a {@link Choice}. */
export type AnswerMessage = Schemas["AnswerMessage"];
export type ChatMessage = Schemas["ChatMessage"];
export type ChatCompletion = Schemas["ChatCompletion"];
/** A {@link ChatCompletion} made of chunks. `usage` is there only if `stream_options.include_usage` asked for it. */
export type CollectedCompletion = Omit<ChatCompletion, "usage"> & Partial<Pick<ChatCompletion, "usage">>;
export type ChatCompletionChunk = Schemas["ChatCompletionChunk"];
export type Choice = Schemas["Choice"];
export type ChunkChoice = Schemas["ChunkChoice"];
export type StreamError = Schemas["StreamError"];
/** The data of every event of a stream but the last, which is `[DONE]`. */
export type StreamEvent = Schemas["StreamEvent"];
export type FinishReason = Schemas["FinishReason"];
export type Model = Schemas["Model"];
export type ResponseFormat = Schemas["ResponseFormat"];
export type Tool = Schemas["Tool"];
export type ToolCall = Schemas["ToolCall"];
export type ToolCallDelta = Schemas["ToolCallDelta"];
export type TokenLogprob = Schemas["TokenLogprob"];
export type Usage = Schemas["Usage"];

export type ErrorCode = Schemas["ErrorCode"];
export type ErrorDetails = Schemas["ErrorDetails"];
export type ErrorType = Schemas["ErrorType"];

/** What {@link Parley.create} takes: the contract's request without the parameters of streams. */
export type CreateRequest = Omit<Schemas["ChatCompletionRequest"], "stream" | "stream_options">;

/** What {@link Parley.stream} takes: the contract's request; `stream: true` is added. */
export type StreamRequest = Omit<Schemas["ChatCompletionRequest"], "stream">;
