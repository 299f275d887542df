import { untilAborted } from "./cancellation.ts";
import { ParleyError } from "./errors.ts";
import type { RetryAdvice } from "./retry-advice.ts";

export interface RepeatOptions {
  /** The maximum number of further attempts. */
  readonly maxRetries: number;
  /** No attempt begins after this time on the clock of `nowMs`. */
  readonly endsAtMs: number;
  /** Ends a pause at once; its reason is thrown. */
  readonly signal: AbortSignal;
  readonly nowMs?: () => number;
  /** Returns a number from 0 to below 1. */
  readonly random?: () => number;
}

/** Makes attempts until one succeeds or fails with an error that is not retryable. @throws the error of the last attempt */
export async function repeat<T>(attempt: () => Promise<T>, options: RepeatOptions): Promise<T> {
  const { maxRetries, endsAtMs, signal, nowMs = () => performance.now(), random = Math.random } = options;
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ParleyError) || !error.retry.isAutomatic || retries >= maxRetries) throw error;
      const waitMs = pauseMs(error.retry, retries, random());
      // A wait beyond the caller's time limit would only replace this error with a timeout.
      if (nowMs() + waitMs >= endsAtMs) throw error;
      await sleep(waitMs, signal);
    }
  }
}

const firstPauseMs = 500;
const longestPauseMs = 8000;

/**
 * Returns the pause before the next attempt. If the service names a time, it is that time and up to a quarter more, so that
 * clients that were refused together do not retry together. Otherwise it is exponential backoff with full jitter.
 */
export function pauseMs({ afterMs }: RetryAdvice, retries: number, random: number): number {
  if (afterMs !== undefined) return afterMs * (1 + random / 4);
  return random * Math.min(longestPauseMs, firstPauseMs * 2 ** retries);
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): Promise<void> => new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  await untilAborted(signal, wait).finally(() => clearTimeout(timer));
}
