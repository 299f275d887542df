import { EngineError } from "../engine.ts";
import { RequestRefusedError } from "../request-refused.ts";
import { isShortage } from "../supervision/shortage.ts";
import { codeOf, isSilent, isUnconnected } from "../wire/connection.ts";
import { isDropped } from "./fronts.ts";
import { RefusedAnswerError } from "../wire/refused-answer.ts";

/** A fixed message for callers, because the engine's own message names members of its own API. */
export const refusal = "The model's engine cannot work on this request.";

/**
 * Returns an `EngineError` for a failure of the engine or of the connection to it. Its message is ours; the engine's own
 * message is the cause, for the log. Any other error is a fault in our code and is returned unchanged.
 */
export function asEngineError(error: unknown): unknown {
  if (error instanceof EngineError) return error;
  if (error instanceof RequestRefusedError) {
    return new EngineError("rejected", error.message, { param: error.param, cause: error });
  }
  if (error instanceof RefusedAnswerError) return readRefusal(error);
  if (isShortage(error)) return new EngineError("unavailable", "the engine could not be asked", { cause: error });
  if (isUnconnected(error)) return new EngineError("unavailable", "the engine is not running", { cause: error });
  if (isSilent(error)) return new EngineError("stalled", "the engine sent nothing in time", { cause: error });
  // undici's code for this error can be undefined.
  const isNotHttp = error instanceof Error && error.name === "HTTPParserError";
  if (codeOf(error) === undefined && !isNotHttp) return error;
  return new EngineError("crashed", "the engine broke the connection", { cause: error });
}

/** The statuses of an engine or a front that is full. Dynamo has 529 for it. */
const busy: ReadonlySet<unknown> = new Set([429, 503, 529]);

/** vLLM's statuses, as measured: 503 when the queue is full, 500 while it shuts down, 404 for the name of another model. */
function readRefusal(cause: RefusedAnswerError): EngineError {
  const { status, retryAfterMs } = cause;
  if (busy.has(status) || isDropped(cause))
    return new EngineError("unavailable", "the engine is busy", { cause, retryAfterMs });
  if (status === 400 || status === 413 || status === 422) {
    return new EngineError("rejected", refusal, { cause });
  }
  if (status < 300)
    return new EngineError("crashed", "the engine answered in a form that it was not asked for", { cause });
  // A redirect would send prompts to a place that the operator has not named.
  if (status < 400) return new EngineError("crashed", "the engine answered with a redirect", { cause });
  if (status < 500) return new EngineError("unavailable", "the engine does not serve us", { cause });
  return new EngineError("crashed", "the engine failed", { cause });
}

/** A refusal after the status line has been sent arrives as an event whose code is the status. */
export function asStreamFailure(error: unknown, isFirst: boolean): EngineError {
  const cause = new Error(JSON.stringify(error).slice(0, 500));
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (isFirst && code === 400) return new EngineError("rejected", refusal, { cause });
  if (isFirst && busy.has(code)) return new EngineError("unavailable", "the engine is busy", { cause });
  return new EngineError("crashed", "the engine failed in the middle of a stream", { cause });
}
