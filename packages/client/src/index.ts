export { createParley } from "./parley.ts";
export type { Parley } from "./parley.ts";
export type { CallOptions, ParleyOptions, ResponseInfo, SharedOptions } from "./options.ts";
export { collect } from "./collect.ts";
export type { CollectedCompletion } from "./collect.ts";
export {
  APIError,
  ConnectionError,
  IncompleteStreamError,
  MalformedResponseError,
  ParleyError,
  TimeoutError,
  hasCode,
} from "./errors.ts";
export type { ClientErrorCode, ErrorWithCode } from "./errors.ts";
export type { RetryAdvice } from "./retry-advice.ts";
export type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatMessage,
  Choice,
  ChunkChoice,
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
