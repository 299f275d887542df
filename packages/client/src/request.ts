import { openCancellation } from "./cancellation.ts";
import type { Cancellation } from "./cancellation.ts";
import { ConnectionError, MalformedResponseError, ParleyError, TimeoutError } from "./errors.ts";
import type { Settings } from "./options.ts";
import type { Exchange, Operation } from "./operations.ts";
import { readHttpError, requestIdOf } from "./read-error.ts";
import { repeat } from "./repeat.ts";
import { adviseRetry, askCaller, tryAgain } from "./retry-advice.ts";

export interface Answer<T> {
  readonly data: T;
  readonly response: Response;
}

/** One whole answer. @throws {ParleyError}; the reason of the caller's signal */
export async function ask<T>(operation: Operation<T>, settings: Settings): Promise<T> {
  const cancellation = openCancellation(settings.signal);
  try {
    return (await request(operation, settings, cancellation)).data;
  } catch (error) {
    cancellation.abort(); // whatever of an answer is still under way
    throw error;
  } finally {
    cancellation.release();
  }
}

/**
 * A success, after as many attempts as the settings and the errors allow, or the last error. The timer still runs
 * afterwards.
 */
export async function request<T>(
  operation: Operation<T>,
  settings: Settings,
  cancellation: Cancellation,
): Promise<Answer<T>> {
  const { timeoutMs, maxRetries } = settings;
  cancellation.start(
    timeoutMs,
    () => new TimeoutError(`No answer within ${timeoutMs} milliseconds.`, { retry: askCaller }),
  );
  const { signal } = cancellation;
  const endsAtMs = Date.now() + timeoutMs;
  return await repeat(() => attempt(operation, settings, signal), { maxRetries, endsAtMs, signal });
}

async function attempt<T>(operation: Operation<T>, settings: Settings, signal: AbortSignal): Promise<Answer<T>> {
  signal.throwIfAborted();
  const headers = await settings.makeHeaders();
  let head: Response | undefined;
  const exchange: Exchange = {
    headers,
    signal,
    send: async (url, init) => {
      const response = await reach(settings.fetch, url, init, signal);
      settings.onResponse?.({ status: response.status, requestId: requestIdOf(response), headers: response.headers });
      head = response;
      return response;
    },
  };
  try {
    const { data, error, response } = await operation(exchange);
    if (!response.ok) throw readHttpError(response, error);
    if (data === undefined || data === null)
      throw new MalformedResponseError("The answer is empty.", factsOf(response));
    return { data, response };
  } catch (error) {
    // Without a head it is a mistake in the arguments, or has its right form already.
    throw head && !(error instanceof ParleyError) ? explainBrokenBody(error, head, signal) : error;
  }
}

const factsOf = (response: Response) => ({ requestId: requestIdOf(response), retry: askCaller });

async function reach(fetch: Settings["fetch"], url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    signal.throwIfAborted();
    throw new ConnectionError("The service could not be reached.", { cause, retry: tryAgain });
  }
}

/**
 * The headers arrived, and then the body broke off or was not JSON. The answer has been generated and charged, so there
 * is no retry.
 */
function explainBrokenBody(cause: unknown, head: Response, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const facts = { ...factsOf(head), cause };
  if (cause instanceof SyntaxError) return new MalformedResponseError("The answer is no JSON.", facts);
  const retry = head.ok ? askCaller : adviseRetry(null, head.status, head.headers);
  return new ConnectionError("The connection broke before the answer was complete.", { ...facts, retry });
}
