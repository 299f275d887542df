import type { ServerResponse } from "node:http";
import type { ApiError } from "../errors/api-error.ts";
import { newId } from "../new-id.ts";
import type { RequestRecord } from "../observe/request-record.ts";

/** What every stage knows about the request. */
export interface RequestContext {
  /** The server's own name of the request, unique. */
  readonly id: string;
  /** Aborts when the caller hangs up or the request's time is over; the reason says which. */
  readonly signal: AbortSignal;
  /** Aborts the signal, with an error that becomes the answer. */
  readonly end: (reason: ApiError) => void;
  /** The fields of the access log, filled in by the stages. */
  readonly record: RequestRecord;
  /** The operation. It may end after its connection has. */
  work: Promise<unknown>;
}

const contexts = new WeakMap<ServerResponse, RequestContext>();

/** It begins with the time, so that new entries of the ledger stand next to each other in its index. */
export const newRequestId = (): string => newId(`req_${Date.now().toString(16).padStart(12, "0")}`, 12);

export function attachContext(response: ServerResponse, context: RequestContext): void {
  contexts.set(response, context);
}

/** The context of a response whose request has passed the first stage. */
export function contextOf(response: ServerResponse): RequestContext {
  const context = contexts.get(response);
  if (!context) throw new Error("a stage ran before the request was opened");
  return context;
}
