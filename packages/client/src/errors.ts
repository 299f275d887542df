import type { ErrorParams } from "@parley/contract/retry-rules";
import { askCaller } from "./retry-advice.ts";
import type { RetryAdvice } from "./retry-advice.ts";
import type { SchemaIssue } from "./standard-schema.ts";
import type { ChatCompletionChunk, ChatMessage, CollectedCompletion, ErrorCode, ErrorDetails } from "./types.ts";

/** The fields of every error of this package. */
export interface ErrorFacts {
  /** Default: {@link askCaller}. */
  readonly retry?: RetryAdvice;
  readonly requestId?: string | undefined;
  readonly chunks?: readonly ChatCompletionChunk[];
  readonly cause?: unknown;
}

/**
 * The base class of the errors of this package. There are two exceptions: an abort of the caller's own `AbortSignal` is
 * thrown as the reason of that signal, and a mistake in the arguments is a `TypeError`. No error contains the key.
 */
export abstract class ParleyError<Facts extends ErrorFacts = ErrorFacts> extends Error {
  /**
   * The kind of error, for programs: an {@link ErrorCode} of the contract, a {@link ClientErrorCode} of this package, or a
   * code that this version does not know. Null when the answer has no code, for example because a gateway sent it.
   */
  abstract readonly code: string | null;
  /** The id of the request (`x-request-id`). Undefined if no answer came. */
  declare readonly requestId: string | undefined;
  /** Says if and when a retry of the same request may work. */
  declare readonly retry: RetryAdvice;
  /** The chunks that arrived before the error: a part of the answer. Empty unless the request was a stream. */
  declare readonly chunks: readonly ChatCompletionChunk[];

  constructor(message: string, facts: Facts) {
    super(message, facts); // for its `cause`
    Object.assign(this, { retry: askCaller, chunks: [] }, facts);
  }
}

/** Further fields of an {@link APIError}. */
export interface APIErrorFacts extends ErrorFacts {
  readonly code: string | null;
  readonly type: string | null;
  readonly status: number;
  readonly param: string | null;
  readonly details: ErrorDetails;
}

/** The service answered with an error, over HTTP or as the last event of a stream. Branch on `code`. */
export class APIError extends ParleyError<APIErrorFacts> {
  override readonly name = "APIError";
  declare readonly code: string | null;
  /** The family of the error, an {@link ErrorType}; null when the answer has none. */
  declare readonly type: string | null;
  /** HTTP status of the answer. It is 200 when the error ended a stream that had begun. */
  declare readonly status: number;
  /** The path of the request field at fault, such as `messages[2].content`; null if the error concerns no field. */
  declare readonly param: string | null;
  /** Numbers and names for programs; empty for codes that define none. */
  declare readonly details: ErrorDetails;
}

/** There was no answer: a name that does not resolve, a refused or broken connection, TLS, CORS, no network. See `cause`. */
export class ConnectionError extends ParleyError {
  override readonly name = "ConnectionError";
  readonly code = "connection_error";
}

/** A time limit of the caller was reached: `timeoutMs`, or `idleTimeoutMs` between two chunks of a stream. */
export class TimeoutError extends ParleyError {
  override readonly name = "TimeoutError";
  readonly code = "client_timeout";
}

/** A stream ended without its `[DONE]`, so the answer is not complete, even if its text looks complete. See `chunks`. */
export class IncompleteStreamError extends ParleyError {
  override readonly name = "IncompleteStreamError";
  readonly code = "incomplete_stream";
}

/** A response with a success status that does not follow the contract, such as a page of a proxy. */
export class MalformedResponseError extends ParleyError {
  override readonly name = "MalformedResponseError";
  readonly code = "malformed_response";
}

/** Further fields of an {@link InvalidOutputError}. */
export interface InvalidOutputFacts extends ErrorFacts {
  readonly text: string;
  readonly issues: readonly SchemaIssue[];
}

/** The output of the model is not JSON, is not complete, or does not fit the schema of the caller. */
export class InvalidOutputError<Facts extends InvalidOutputFacts = InvalidOutputFacts> extends ParleyError<Facts> {
  override readonly name: "InvalidOutputError" | "IncompleteAnswerError" = "InvalidOutputError";
  readonly code = "invalid_output";
  /** The output of the model. */
  declare readonly text: string;
  /** The faults that the schema found. Empty when the text is not complete JSON. */
  declare readonly issues: readonly SchemaIssue[];
}

/** Further fields of an {@link IncompleteAnswerError}. */
export interface IncompleteAnswerFacts extends InvalidOutputFacts {
  readonly completion: CollectedCompletion;
  readonly finishReason: string | null;
  readonly messages: readonly ChatMessage[];
}

/**
 * The answer was cut (`length`), withheld (`content_filter`) or refused, or it has a tool call without an id or a name.
 * `parse()`, `runTools()`, `finalMessage()` and `finalText()` throw it, because they do not show a finish reason. `create()`,
 * `stream()` and `collect()` return such an answer unchanged.
 */
export class IncompleteAnswerError extends InvalidOutputError<IncompleteAnswerFacts> {
  override readonly name = "IncompleteAnswerError";
  /** The partial answer with its usage. A stream has usage only if the request asked for it. */
  declare readonly completion: CollectedCompletion;
  /** The finish reason of the first choice; null when the answer has none. */
  declare readonly finishReason: string | null;
  /** With `runTools()`: the conversation before this answer, for a further request. Otherwise empty. */
  declare readonly messages: readonly ChatMessage[];
}

/** Further fields of a {@link TooManyRoundsError}. */
export interface TooManyRoundsFacts extends ErrorFacts {
  readonly messages: readonly ChatMessage[];
}

/** The model still calls tools in the last round that `maxRounds` permits. These calls were not run. */
export class TooManyRoundsError extends ParleyError<TooManyRoundsFacts> {
  override readonly name = "TooManyRoundsError";
  readonly code = "too_many_rounds";
  /** The conversation so far. Its last message has the calls that were not run. */
  declare readonly messages: readonly ChatMessage[];
}

interface ClientErrors {
  connection_error: ConnectionError;
  client_timeout: TimeoutError;
  incomplete_stream: IncompleteStreamError;
  malformed_response: MalformedResponseError;
  invalid_output: InvalidOutputError;
  too_many_rounds: TooManyRoundsError;
}

/** The codes of errors that this package makes itself, not the service. */
export type ClientErrorCode = keyof ClientErrors;

type DetailsOf<C extends ErrorCode> = C extends "rate_limit_exceeded"
  ? Required<Pick<ErrorDetails, "limit">>
  : C extends "context_length_exceeded"
    ? Required<Omit<ErrorDetails, "limit">>
    : ErrorDetails;

/** The error with this code. Its fields have the types that the contract gives them. */
export type ErrorWithCode<C extends ErrorCode | ClientErrorCode> = C extends ErrorCode
  ? APIError & { readonly code: C; readonly param: ErrorParams[C]; readonly details: DetailsOf<C> }
  : C extends ClientErrorCode
    ? ClientErrors[C]
    : never;

/** Checks that a caught value is an error of this package with one of these codes, and narrows its type. */
export const hasCode = <const C extends ErrorCode | ClientErrorCode>(
  error: unknown,
  ...codes: readonly [C, ...C[]]
): error is ErrorWithCode<C> => error instanceof ParleyError && codes.some((code) => code === error.code);
