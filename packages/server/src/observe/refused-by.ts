import type { ApiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/catalog.ts";

/** The bound for each error code that has only one. */
const boundOfCode: Partial<Record<ErrorCode, string>> = {
  insufficient_quota: "budget",
  capacity_exhausted: "queue",
  request_too_large: "body",
  request_timeout: "time to send",
  context_length_exceeded: "context",
  timeout: "time",
};

/** Returns the name of the bound that refused a request: a limit of the contract, or one of the above. */
export const refusedBy = ({ code, details }: ApiError): string | undefined => details?.limit ?? boundOfCode[code];
