import { readEvents } from "../../try/read-events.ts";
import { isObject } from "../../try/schema.ts";
import type { Json, JsonObject } from "../../try/schema.ts";

/** A request as it is sent. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The end of a request that has failed. */
export interface Failure {
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  readonly code: string;
  readonly message: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** Milliseconds to wait before a retry, as the service says. */
  readonly waitMs: number | undefined;
  /** True if a part of the answer had arrived. */
  readonly isInStream: boolean;
}

export type Outcome =
  | { readonly kind: "whole" }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly failure: Failure };

export interface Listener {
  head(response: Response): void;
  /** A whole answer, or the data of an event. `value` is undefined for `[DONE]`. */
  event(data: string, value: JsonObject | undefined): void;
}

const noFacts = { code: "", param: undefined, requestId: undefined, waitMs: undefined };

/** Sends a request and reads the answer while it arrives. */
export async function send({ method, path, body, headers, signal }: Call, listener: Listener): Promise<Outcome> {
  let isInStream = false;
  try {
    const response = await fetch(path, {
      method,
      headers,
      signal,
      cache: "no-store",
      ...(body !== undefined && { body }),
    });
    listener.head(response);
    if (!response.ok) return failed(failureOf(response, parse(await response.text())));
    if (response.headers.get("content-type")?.startsWith("text/event-stream") && response.body) {
      isInStream = true;
      return await readStream(response, response.body, listener);
    }
    const text = await response.text();
    const value = parse(text);
    listener.event(text, isObject(value) ? value : undefined);
    return { kind: "whole" };
  } catch (error) {
    if (signal.aborted) return { kind: "stopped" };
    const message = isInStream
      ? "The connection broke before the answer was complete."
      : `The service could not be reached (${String(error)}).`;
    return failed({ ...noFacts, status: undefined, message, isInStream });
  }
}

async function readStream(response: Response, body: ReadableStream<Uint8Array>, listener: Listener): Promise<Outcome> {
  let outcome: Outcome | undefined;
  // The end is read, too: the connection can then be used again.
  for await (const data of readEvents(body)) {
    const value = data === "[DONE]" ? undefined : parse(data);
    listener.event(data, isObject(value) ? value : undefined);
    if (data === "[DONE]") outcome = { kind: "whole" };
    else if (isObject(value) && isObject(value["error"]))
      outcome = failed({ ...failureOf(response, value), isInStream: true });
  }
  const message = "The stream ended without [DONE], so the answer is not complete.";
  const facts = { ...noFacts, requestId: requestIdOf(response), status: response.status };
  return outcome ?? failed({ ...facts, message, isInStream: true });
}

const failed = (failure: Failure): Outcome => ({ kind: "failed", failure });
const requestIdOf = (response: Response): string | undefined => response.headers.get("x-request-id") ?? undefined;

function failureOf(response: Response, body: Json): Failure {
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const text = (name: string): string | undefined => (typeof error[name] === "string" ? error[name] : undefined);
  const wait = response.headers.get("retry-after-ms");
  const seconds = response.headers.get("retry-after");
  return {
    status: response.status,
    code: text("code") ?? "",
    message: text("message") ?? `The answer has the status ${response.status} and no error that this page can read.`,
    param: text("param"),
    requestId: requestIdOf(response),
    waitMs: wait !== null ? Number(wait) : seconds !== null ? Number(seconds) * 1000 : undefined,
    isInStream: false,
  };
}

function parse(text: string): Json {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
