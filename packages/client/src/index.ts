export { createParley } from "./parley.ts";
export type { Parley } from "./parley.ts";
export type { AnswerPromise } from "./answer-promise.ts";
export type { ChatStream } from "./chat-stream.ts";
export type { Answer } from "./request.ts";
export { jsonFormat } from "./json-format.ts";
export type { JsonFormat, JsonFormatOptions, ParseRequest, ParsedCompletion } from "./json-format.ts";
export { defineTool } from "./define-tool.ts";
export type { RunnableTool, ToolContext, ToolOptions } from "./define-tool.ts";
export type { ToolRequest, ToolRun, ToolRunOptions } from "./run-tools.ts";
export type { JsonSchema, SchemaIssue, StandardSchema } from "./standard-schema.ts";
export type { ApiKey, CallOptions, ParleyOptions, ResponseInfo, SharedOptions } from "./options.ts";
export { collect } from "./collect.ts";
export {
  APIError,
  ConnectionError,
  IncompleteAnswerError,
  IncompleteStreamError,
  InvalidOutputError,
  MalformedResponseError,
  ParleyError,
  TimeoutError,
  TooManyRoundsError,
  hasCode,
} from "./errors.ts";
export type { ClientErrorCode, ErrorWithCode } from "./errors.ts";
export type { RetryAdvice } from "./retry-advice.ts";
export type {
  AnswerMessage,
  ChatCompletion,
  ChatCompletionChunk,
  ChatMessage,
  Choice,
  ChunkChoice,
  CollectedCompletion,
  CreateRequest,
  ErrorCode,
  ErrorDetails,
  ErrorType,
  FinishReason,
  Model,
  ResponseFormat,
  StreamError,
  StreamEvent,
  StreamRequest,
  TokenLogprob,
  Tool,
  ToolCall,
  Usage,
} from "./types.ts";
