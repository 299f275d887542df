import type { IncomingMessage } from "node:http";
import { ApiError } from "../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };

const limits = contract["x-limits"];
const maxUrlCharacters = limits.maxUrlCharacters.value;
const maxHeaderBytes = limits.maxHeaderBytes.value;
const maxHeaderFields = limits.maxHeaderFields.value;

/** Node stops reading header fields here. One more than the maximum is enough to detect that there are too many. */
export const maxFieldsRead = maxHeaderFields + 1;

/** Node itself refuses longer heads, and cannot tell which part was too long. */
export const maxHeadBytes = 4 * maxHeaderBytes;

/**
 * Checks a head against the contract's bounds. Node has no such errors: it silently drops header fields beyond its own
 * bound.
 * @throws {ApiError} 414, 431, 505
 */
export function refuseHugeHeads(req: IncomingMessage): void {
  const fault = findFault(req);
  if (!fault) return;
  const [status, message] = fault;
  throw new ApiError("invalid_value", message, { status });
}

function findFault({ httpVersionMajor, url = "", rawHeaders }: IncomingMessage): [number, string] | undefined {
  if (httpVersionMajor !== 1) return [505, "This version of HTTP is not supported. Use HTTP/1.1."];
  if (url.length > maxUrlCharacters) return [414, `The URL is longer than ${maxUrlCharacters} characters.`];
  if (rawHeaders.length / 2 > maxHeaderFields) return [431, `There are more than ${maxHeaderFields} header fields.`];
  const headerBytes = rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
  if (headerBytes > maxHeaderBytes) return [431, `The headers are larger than ${maxHeaderBytes} bytes.`];
  return undefined;
}
