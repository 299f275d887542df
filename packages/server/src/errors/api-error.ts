import type { components } from "@parley/contract/types";
import { catalog } from "./catalog.ts";
import type { ErrorCode } from "./catalog.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };

export type ErrorDetails = components["schemas"]["ErrorDetails"];
export type ErrorBody = components["schemas"]["ErrorResponse"];

export interface ApiErrorOptions {
  /** The path of the field at fault, written `messages[2].content[0].text`. */
  readonly param?: string | null;
  readonly details?: ErrorDetails;
  /** Milliseconds to wait before another attempt; undefined: 1000. */
  readonly retryAfterMs?: number;
  /** True if retries cannot succeed, although errors with this code are usually temporary. */
  readonly isNonRetryable?: boolean;
  /** A status that is more specific than that of the code. Only for requests that cannot be read. */
  readonly status?: number;
  readonly allow?: string;
  readonly cause?: unknown;
  /** True if the cause is in the log already. */
  readonly isLogged?: boolean;
}

/** An error of the service. `message` is for the caller, `cause` for the log. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly param: string | null;
  readonly details: ErrorDetails | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isLogged: boolean;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(truncate(message), { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = options.status ?? catalog[code].status;
    this.param = typeof options.param === "string" ? toNameable(options.param) : null;
    this.details = options.details;
    this.headers = headersOf(code, options);
    this.isLogged = options.isLogged ?? false;
  }

  /** Returns the error envelope. In a stream it is the last event. */
  toBody(requestId: string): ErrorBody {
    const { message, code, param, details } = this;
    const error = { message, type: catalog[code].type, param, code, ...(details && { details }) };
    return { error, request_id: requestId };
  }
}

/** Throws 503 `service_unavailable` for a store of keys or limits that cannot be asked. */
export function storeAway(cause: unknown): never {
  const message = "Keys and limits cannot be looked up at the moment, so no request is taken. Try again later.";
  throw new ApiError("service_unavailable", message, { retryAfterMs: 2000, cause });
}

const { errorMessageCharacters, noRetryAboveSeconds } = contract["x-limits"];
const maxCharacters = errorMessageCharacters.value;

/** Cuts a text after the maximum length, since messages contain names that the caller chose. */
function truncate(text: string): string {
  if (text.length <= maxCharacters) return text;
  // A character has one or two UTF-16 units.
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 2));
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join("")}…` : text;
}

/** Shortens a long path to one of its parents. A path that is cut inside a name would name nothing. */
function toNameable(path: string): string | null {
  if (path === truncate(path)) return path;
  const end = Math.max(path.lastIndexOf(".", maxCharacters), path.lastIndexOf("[", maxCharacters));
  return end > 0 ? path.slice(0, end) : null;
}

const noRetryAboveMs = noRetryAboveSeconds.value * 1000;
const waitingStatuses = new Set([409, 429, 503]);

function headersOf(code: ErrorCode, options: ApiErrorOptions): Record<string, string> {
  const headers: Record<string, string> = { link: `</docs/errors/${code}>; rel="help"` };
  if (code === "invalid_api_key") headers["www-authenticate"] = "Bearer";
  if (options.allow !== undefined) headers["allow"] = options.allow;
  if (!waitingStatuses.has(catalog[code].status)) return headers;
  const waitMs = Math.max(1, Math.ceil(options.retryAfterMs ?? 1000));
  headers["retry-after"] = String(Math.max(1, Math.ceil(waitMs / 1000)));
  headers["retry-after-ms"] = String(waitMs);
  if (waitMs > noRetryAboveMs || options.isNonRetryable) headers["x-should-retry"] = "false";
  return headers;
}

/** The error of an unforeseen failure. It does not reveal the cause, which only the log receives. */
export const internalError = (cause: unknown): ApiError =>
  new ApiError(
    "internal_error",
    "Something went wrong on our side. Try again; if it persists, name the request id to support.",
    { cause },
  );
