import type { IncomingMessage } from "node:http";
import { ApiError } from "../errors/api-error.ts";
import contract from "../generated/contract.json" with { type: "json" };

const limits = contract["x-limits"];
const maxUrlCharacters = limits.maxUrlCharacters.value;
const maxHeaderBytes = limits.maxHeaderBytes.value;
const maxHeaderFields = limits.maxHeaderFields.value;

/** Node reads no further fields: one more than may be is enough to refuse the head. */
export const mostFieldsRead = maxHeaderFields + 1;

/** Beyond this Node itself ends the request, and cannot tell what was too long. */
export const maxHeadBytes = 4 * maxHeaderBytes;

/** Holds a head to bounds that Node does not have: it drops headers beyond its own bound in silence. @throws {ApiError} 414, 431, 505 */
export function refuseHugeHeads(req: IncomingMessage): void {
  const fault = findFault(req);
  if (!fault) return;
  const [status, message] = fault;
  throw new ApiError("invalid_value", message, { status });
}

function findFault({ httpVersionMajor, url = "", rawHeaders }: IncomingMessage): [number, string] | undefined {
  if (httpVersionMajor !== 1) return [505, "This version of HTTP is not spoken here. Use HTTP/1.1."];
  if (url.length > maxUrlCharacters) return [414, `The URL is longer than ${maxUrlCharacters} characters.`];
  if (rawHeaders.length / 2 > maxHeaderFields) return [431, `There are more than ${maxHeaderFields} header fields.`];
  const headerBytes = rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
  if (headerBytes > maxHeaderBytes) return [431, `The headers are larger than ${maxHeaderBytes} bytes.`];
  return undefined;
}
