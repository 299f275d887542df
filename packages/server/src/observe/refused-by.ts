import type { ApiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/catalog.ts";

/** Codes that stand for one bound. */
const boundOfCode: Partial<Record<ErrorCode, string>> = {
  insufficient_quota: "budget",
  capacity_exhausted: "queue",
  request_too_large: "body",
  request_timeout: "time to send",
  context_length_exceeded: "context",
  timeout: "time",
};

/** The bound that a request met, by a name out of a short list: a limit of the contract, or one of the above. */
export const refusedBy = ({ code, details }: ApiError): string | undefined => details?.limit ?? boundOfCode[code];
