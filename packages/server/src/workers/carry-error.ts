import { ConfigError } from "../config/config-error.ts";
import { ApiError } from "../errors/api-error.ts";
import type { ApiErrorOptions } from "../errors/api-error.ts";
import { ListenError } from "../sockets/listener.ts";
import { StateError } from "../state/state-error.ts";

/** An error on its way to another process, which would otherwise lose its class. */
type Carried =
  | {
      readonly kind: "api";
      readonly code: ApiError["code"];
      readonly message: string;
      readonly options: ApiErrorOptions;
    }
  | { readonly kind: "config"; readonly faults: readonly string[] }
  | { readonly kind: "state" | "listen"; readonly message: string }
  | { readonly kind: "other"; readonly error: Error };

/** Returns an error in a form that can be copied to another process. */
export function toCarried(error: unknown): unknown {
  return carriedOf(error);
}

function carriedOf(error: unknown): Carried {
  if (error instanceof ApiError)
    return { kind: "api", code: error.code, message: error.message, options: optionsOf(error) };
  if (error instanceof ConfigError) return { kind: "config", faults: error.faults };
  if (error instanceof StateError) return { kind: "state", message: error.message };
  if (error instanceof ListenError) return { kind: "listen", message: error.message };
  return { kind: "other", error: error instanceof Error ? error : new Error(String(error)) };
}

/** Returns the error of a form that `toCarried` has made, with its class. */
export function fromCarried(form: unknown): Error {
  const carried = form as Carried; // the parameter of this function
  switch (carried.kind) {
    case "api":
      return new ApiError(carried.code, carried.message, carried.options);
    case "config":
      return new ConfigError(carried.faults);
    case "state":
      return new StateError(carried.message);
    case "listen":
      return new ListenError(carried.message);
    case "other":
      return carried.error;
  }
}

function optionsOf({ status, param, details, headers, cause }: ApiError): ApiErrorOptions {
  const retryAfterMs = headers["retry-after-ms"];
  return {
    status,
    param,
    ...(details && { details }),
    ...(retryAfterMs !== undefined && { retryAfterMs: Number(retryAfterMs) }),
    ...(headers["allow"] !== undefined && { allow: headers["allow"] }),
    isNonRetryable: headers["x-should-retry"] === "false",
    cause,
  };
}
