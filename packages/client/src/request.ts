import { openCancellation } from "./cancellation.ts";
import type { Cancellation } from "./cancellation.ts";
import { ConnectionError, MalformedResponseError, ParleyError, TimeoutError } from "./errors.ts";
import type { Settings } from "./options.ts";
import type { Exchange, Operation } from "./operations.ts";
import { readHttpError, requestIdOf } from "./read-error.ts";
import { repeat } from "./repeat.ts";
import { adviseRetry, tryAgain } from "./retry-advice.ts";

/** An answer with its HTTP response. */
export interface Answer<T> {
  readonly data: T;
  /** Status and headers. The body has been read already, or is read as the stream. */
  readonly response: Response;
  /** The id of the request (`x-request-id`). */
  readonly requestId: string | undefined;
}

/** Returns one complete answer. @throws {ParleyError}; the reason of the caller's signal */
export async function ask<T>(operation: Operation<T>, settings: Settings): Promise<Answer<T>> {
  const cancellation = openCancellation(settings.signal);
  try {
    return await request(operation, settings, cancellation);
  } catch (error) {
    cancellation.abort(); // stops a body that is still arriving
    throw error;
  } finally {
    cancellation.release();
  }
}

/**
 * Makes as many attempts as the settings and the errors allow. Returns the first success. The timer of `cancellation` still
 * runs afterwards.
 * @throws the error of the last attempt
 */
export async function request<T>(
  operation: Operation<T>,
  settings: Settings,
  cancellation: Cancellation,
): Promise<Answer<T>> {
  const { timeoutMs, maxRetries } = settings;
  cancellation.start(timeoutMs, () => new TimeoutError(`No answer within ${timeoutMs} milliseconds.`, {}));
  const { signal } = cancellation;
  const endsAtMs = performance.now() + timeoutMs;
  return await repeat(() => attempt(operation, settings, signal), { maxRetries, endsAtMs, signal });
}

async function attempt<T>(operation: Operation<T>, settings: Settings, signal: AbortSignal): Promise<Answer<T>> {
  signal.throwIfAborted();
  const headers = await settings.makeHeaders();
  let head: { readonly url: string; readonly response: Response } | undefined;
  const exchange: Exchange = {
    headers,
    signal,
    send: async (url, init) => {
      const response = await reach(settings.fetch, url, init, signal);
      settings.onResponse?.({ status: response.status, requestId: requestIdOf(response), headers: response.headers });
      head = { url, response };
      return response;
    },
  };
  try {
    const { data, error, response } = await operation(exchange);
    if (!response.ok) throw readHttpError(response, error);
    if (data === undefined || data === null)
      throw new MalformedResponseError("The answer is empty.", factsOf(response));
    return { data, response, requestId: requestIdOf(response) };
  } catch (error) {
    // Before the head, the error is a mistake in the arguments, or `reach` has translated it already.
    throw head && !(error instanceof ParleyError) ? explainBrokenBody(error, head.url, head.response, signal) : error;
  }
}

const factsOf = (response: Response) => ({ requestId: requestIdOf(response) });

async function reach(fetch: Settings["fetch"], url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    signal.throwIfAborted();
    throw new ConnectionError(`The service could not be reached at ${url}.`, { cause, retry: tryAgain });
  }
}

/**
 * Makes the error for a body that broke off or was not JSON after its headers had arrived. A success is not retried, because
 * the answer has been generated and charged.
 */
function explainBrokenBody(cause: unknown, url: string, response: Response, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const facts = { ...factsOf(response), cause };
  if (cause instanceof SyntaxError) return new MalformedResponseError("The answer is not JSON.", facts);
  return new ConnectionError(`The connection to ${url} broke before the answer was complete.`, {
    ...facts,
    ...(!response.ok && { retry: adviseRetry(null, response.status, response.headers) }),
  });
}
