import { APIError } from "./errors.ts";
import type { APIErrorFacts } from "./errors.ts";
import { adviseRetry, askCaller, helpsOf } from "./retry-advice.ts";
import type { ChatCompletionChunk } from "./types.ts";

export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get("x-request-id") ?? undefined;

/** Makes the error of an HTTP response. The body may have any form, because another server may have sent it. */
export function readHttpError(response: Response, body: unknown): APIError {
  const { message, ...facts } = readEnvelope(body);
  const { status } = response;
  return new APIError(message ?? `HTTP ${status} without an error of the service.`, {
    ...facts,
    status,
    requestId: requestIdOf(response) ?? facts.requestId,
    retry: adviseRetry(facts.code, status, response.headers),
  });
}

/** Makes the error that ended a stream. There is no automatic retry, because the caller already has a part of the answer. */
export function readStreamError(response: Response, body: unknown, chunks: readonly ChatCompletionChunk[]): APIError {
  const { message, ...facts } = readEnvelope(body);
  const retry = { ...askCaller, helps: helpsOf(facts.code, 500) };
  return new APIError(message ?? "The stream failed.", { ...facts, status: response.status, retry, chunks });
}

type Envelope = Pick<APIErrorFacts, "code" | "type" | "param" | "details" | "requestId"> & {
  readonly message: string | null;
};

function readEnvelope(body: unknown): Envelope {
  const { error, request_id } = asRecord(body);
  const { message, code, type, param, details } = asRecord(error);
  return {
    message: textOf(message),
    code: textOf(code),
    type: textOf(type),
    param: textOf(param),
    details: asRecord(details),
    requestId: textOf(request_id) ?? undefined,
  };
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Makes an object of any value, so that reading a field never fails. */
const asRecord = (value: unknown): Readonly<Record<string, unknown>> => ({ ...(value as object | undefined) });
