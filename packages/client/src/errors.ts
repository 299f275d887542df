import type { ErrorParams } from "./generated/retry-rules.ts";
import type { RetryAdvice } from "./retry-advice.ts";
import type { SchemaIssue } from "./standard-schema.ts";
import type { ChatCompletionChunk, ChatMessage, CollectedCompletion, ErrorCode, ErrorDetails } from "./types.ts";

/** What every error of this package carries. */
export interface ErrorFacts {
  readonly retry: RetryAdvice;
  readonly requestId?: string | undefined;
  readonly chunks?: readonly ChatCompletionChunk[];
  readonly cause?: unknown;
}

/**
 * The base of everything that this package throws, with two exceptions: an abort of the caller's own `AbortSignal` is
 * thrown as that signal's reason, and a mistake in the arguments as a `TypeError`. No error carries the key.
 */
export abstract class ParleyError extends Error {
  /**
   * What went wrong, for programs: an {@link ErrorCode} of the contract, a {@link ClientErrorCode} of this package, or one
   * that this version does not know. Null: the answer named none, as it came from something in between.
   */
  abstract readonly code: string | null;
  /** The service's name for the request (`x-request-id`). Undefined where no answer came. */
  declare readonly requestId: string | undefined;
  /** Whether, and when, the same request may work. */
  declare readonly retry: RetryAdvice;
  /** The chunks that had arrived. They are not the whole answer. Empty unless the request was a stream. */
  declare readonly chunks: readonly ChatCompletionChunk[];

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts); // for its `cause`
    Object.assign(this, { chunks: [] }, facts);
  }
}

/** What an {@link APIError} carries besides. */
export interface APIErrorFacts extends ErrorFacts {
  readonly code: string | null;
  readonly type: string | null;
  readonly status: number;
  readonly param: string | null;
  readonly details: ErrorDetails;
}

/** The service answered with an error, over HTTP or as the last event of a stream. Branch on `code`. */
export class APIError extends ParleyError {
  override readonly name = "APIError";
  declare readonly code: string | null;
  /** The family of the error, an {@link ErrorType}; null where the answer named none. */
  declare readonly type: string | null;
  /** HTTP status of the answer. 200 where the error ended a stream that had begun. */
  declare readonly status: number;
  /** The path of the request field at fault, such as `messages[2].content`; null where no field is. */
  declare readonly param: string | null;
  /** Facts for programs; empty where the code has none. */
  declare readonly details: ErrorDetails;

  // eslint-disable-next-line no-useless-constructor -- it asks for more than the one it calls
  constructor(message: string, facts: APIErrorFacts) {
    super(message, facts);
  }
}

/** No answer came: a name that does not resolve, a refused or broken connection, TLS, CORS, no network. See `cause`. */
export class ConnectionError extends ParleyError {
  override readonly name = "ConnectionError";
  readonly code = "connection_error";
}

/** A time limit of the caller was reached: `timeoutMs`, or `idleTimeoutMs` between two chunks of a stream. */
export class TimeoutError extends ParleyError {
  override readonly name = "TimeoutError";
  readonly code = "client_timeout";
}

/** A stream ended without its `[DONE]`, so the answer is not complete, even where its text looks complete. See `chunks`. */
export class IncompleteStreamError extends ParleyError {
  override readonly name = "IncompleteStreamError";
  readonly code = "incomplete_stream";
}

/** A response with a success status that this service did not send, such as a page of a proxy. */
export class MalformedResponseError extends ParleyError {
  override readonly name = "MalformedResponseError";
  readonly code = "malformed_response";
}

/** What an {@link InvalidOutputError} carries besides. */
export interface InvalidOutputFacts extends ErrorFacts {
  readonly text: string;
  readonly issues: readonly SchemaIssue[];
}

/** What the model wrote is not JSON, not complete, or refused by the schema that the caller gave. */
export class InvalidOutputError extends ParleyError {
  override readonly name: "InvalidOutputError" | "IncompleteAnswerError" = "InvalidOutputError";
  readonly code = "invalid_output";
  /** What the model wrote. */
  declare readonly text: string;
  /** What the schema has against it; empty where the text is not complete JSON. */
  declare readonly issues: readonly SchemaIssue[];

  // eslint-disable-next-line no-useless-constructor -- it asks for more than the one it calls
  constructor(message: string, facts: InvalidOutputFacts) {
    super(message, facts);
  }
}

/** What an {@link IncompleteAnswerError} carries besides. */
export interface IncompleteAnswerFacts extends InvalidOutputFacts {
  readonly completion: CollectedCompletion;
  readonly finishReason: string | null;
  readonly messages: readonly ChatMessage[];
}

/**
 * The answer was cut (`length`), withheld (`content_filter`) or refused, or it has a tool call without an id or a name.
 * `parse()`, `runTools()`, `finalMessage()` and `finalText()` throw it, since they do not show a finish reason. `create()`,
 * `stream()` and `collect()` give such an answer as it is.
 */
export class IncompleteAnswerError extends InvalidOutputError {
  override readonly name = "IncompleteAnswerError";
  /** The partial answer with its usage; without usage where a stream was not asked for it. */
  declare readonly completion: CollectedCompletion;
  /** Why the first choice ended; null where the answer does not say. */
  declare readonly finishReason: string | null;
  /** Of `runTools()`: the conversation before this answer, with which a request can begin. Else empty. */
  declare readonly messages: readonly ChatMessage[];

  // eslint-disable-next-line no-useless-constructor -- it asks for more than the one it calls
  constructor(message: string, facts: IncompleteAnswerFacts) {
    super(message, facts);
  }
}

/** What a {@link TooManyRoundsError} carries besides. */
export interface TooManyRoundsFacts extends ErrorFacts {
  readonly messages: readonly ChatMessage[];
}

/** The model still calls tools in the last round that `maxRounds` permits. Those calls have not been run. */
export class TooManyRoundsError extends ParleyError {
  override readonly name = "TooManyRoundsError";
  readonly code = "too_many_rounds";
  /** The conversation so far. Its last message is the answer of the model with the calls that were not run. */
  declare readonly messages: readonly ChatMessage[];

  // eslint-disable-next-line no-useless-constructor -- it asks for more than the one it calls
  constructor(message: string, facts: TooManyRoundsFacts) {
    super(message, facts);
  }
}

interface ClientErrors {
  connection_error: ConnectionError;
  client_timeout: TimeoutError;
  incomplete_stream: IncompleteStreamError;
  malformed_response: MalformedResponseError;
  invalid_output: InvalidOutputError;
  too_many_rounds: TooManyRoundsError;
}

/** The codes of the errors that do not come from the service. */
export type ClientErrorCode = keyof ClientErrors;

type DetailsOf<C extends ErrorCode> = C extends "rate_limit_exceeded"
  ? Required<Pick<ErrorDetails, "limit">>
  : C extends "context_length_exceeded"
    ? Required<Omit<ErrorDetails, "limit">>
    : ErrorDetails;

/** The error that has this code, with the types that the contract gives its fields. */
export type ErrorWithCode<C extends ErrorCode | ClientErrorCode> = C extends ErrorCode
  ? APIError & { readonly code: C; readonly param: ErrorParams[C]; readonly details: DetailsOf<C> }
  : C extends ClientErrorCode
    ? ClientErrors[C]
    : never;

/** Whether something caught is an error of this package with one of these codes; then its fields are typed. */
export const hasCode = <const C extends ErrorCode | ClientErrorCode>(
  error: unknown,
  ...codes: readonly [C, ...C[]]
): error is ErrorWithCode<C> => error instanceof ParleyError && codes.some((code) => code === error.code);
