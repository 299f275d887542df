import { EngineError } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";

/** An engine's failure in the service's words; never the engine's own, but for a refusal that is meant for the caller. */
export function toApiError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.kind === "rejected")
    return new ApiError("invalid_value", error.message, { param: error.param ?? "messages", cause: error });
  if (error.kind === "unavailable") {
    return new ApiError("service_unavailable", "The model is not ready at the moment. Try again shortly.", {
      retryAfterMs: 2000,
      cause: error,
    });
  }
  if (error.kind === "stalled")
    return new ApiError("timeout", "The model's engine made no progress in time. Try again.", { cause: error });
  return new ApiError("upstream_error", "The model's engine failed while it worked on this request. Try again.", {
    cause: error,
  });
}
