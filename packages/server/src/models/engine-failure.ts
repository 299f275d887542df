import { EngineError } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";

const maxRetryAfterMs = 60_000;

/**
 * Turns an engine's failure into an API error. The message of the engine is only passed on if the engine rejected the
 * request.
 */
export function toApiError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.kind === "rejected")
    return new ApiError("invalid_value", error.message, { param: error.param ?? "messages", cause: error });
  if (error.kind === "unavailable") {
    return new ApiError("service_unavailable", "The model is not ready at the moment. Try again shortly.", {
      // An upstream may ask for hours. A caller gives up before that, and the model may be free sooner.
      retryAfterMs: Math.min(error.retryAfterMs ?? 2000, maxRetryAfterMs),
      cause: error,
    });
  }
  if (error.kind === "stalled")
    return new ApiError("timeout", "The model's engine made no progress in time. Try again.", { cause: error });
  return new ApiError("upstream_error", "The model's engine failed while it worked on this request. Try again.", {
    cause: error,
  });
}
