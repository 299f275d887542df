import { APIError } from "./errors.ts";
import type { APIErrorFacts } from "./errors.ts";
import { adviseRetry, helpsOf } from "./retry-advice.ts";
import type { ChatCompletionChunk } from "./types.ts";

export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get("x-request-id") ?? undefined;

/** The error of an answer over HTTP, whatever its body is: another server may have written it. */
export function readHttpError(response: Response, body: unknown): APIError {
  const { message, ...facts } = readEnvelope(body);
  const { status } = response;
  return new APIError(message ?? `HTTP ${status}, and no error of the service with it.`, {
    ...facts,
    status,
    requestId: requestIdOf(response) ?? facts.requestId,
    retry: adviseRetry(facts.code, status, response.headers),
  });
}

/** The error that ended a stream. The caller has received a part of the answer, so the caller decides about a retry. */
export function readStreamError(response: Response, body: unknown, chunks: readonly ChatCompletionChunk[]): APIError {
  const { message, ...facts } = readEnvelope(body);
  const retry = { helps: helpsOf(facts.code, 500), afterMs: undefined, isAutomatic: false };
  return new APIError(message ?? "The stream failed.", { ...facts, status: response.status, retry, chunks });
}

type Envelope = Pick<APIErrorFacts, "code" | "type" | "param" | "details" | "requestId"> & {
  readonly message: string | undefined;
};

function readEnvelope(body: unknown): Envelope {
  const { error, request_id } = asRecord(body);
  const { message, code, type, param, details } = asRecord(error);
  return {
    message: textOf(message),
    code: textOf(code) ?? null,
    type: textOf(type) ?? null,
    param: textOf(param) ?? null,
    details: asRecord(details),
    requestId: textOf(request_id),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Reading a field of a value that is no object gives undefined instead of failing. */
const asRecord = (value: unknown): Readonly<Record<string, unknown>> => ({ ...(value as object | undefined) });
