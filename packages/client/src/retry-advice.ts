import { noRetryAboveMs, retryHelps } from "./generated/retry-rules.ts";

/** Whether, and when, the same request may work: what the contract's catalogue and the answer's headers say. */
export interface RetryAdvice {
  /** `never`: the same request fails again. `after-wait`: it works after the wait. `maybe`: it may work. */
  readonly helps: "never" | "after-wait" | "maybe";
  /** Milliseconds to wait first, as the service asks. Undefined: no time was named; use exponential backoff with jitter. */
  readonly afterMs: number | undefined;
  /**
   * Whether a program may repeat the request unasked. False where a retry fails again, where the wait is longer than a minute,
   * where the service says so (`x-should-retry: false`), and once an answer has begun.
   */
  readonly isAutomatic: boolean;
}

/** It may work, but the caller has to decide: an answer had begun and may be charged. */
export const askCaller: RetryAdvice = { helps: "maybe", afterMs: undefined, isAutomatic: false };

/** No response arrived: a retry with backoff may work. */
export const tryAgain: RetryAdvice = { helps: "maybe", afterMs: undefined, isAutomatic: true };

/** The advice for an answer over HTTP. An answer without a code of the contract is judged by its status. */
export function adviseRetry(code: string | null, status: number, headers: Headers): RetryAdvice {
  const helps = helpsOf(code, status);
  const afterMs = readWaitMs(headers);
  const isWelcome = headers.get("x-should-retry") !== "false" && (afterMs ?? 0) <= noRetryAboveMs;
  return { helps, afterMs, isAutomatic: helps !== "never" && isWelcome };
}

export function helpsOf(code: string | null, status: number): RetryAdvice["helps"] {
  // The guard before it makes the code a key of the table.
  if (code !== null && Object.hasOwn(retryHelps, code)) return retryHelps[code as keyof typeof retryHelps];
  return status === 408 || status === 429 || status >= 500 ? "maybe" : "never";
}

/** `retry-after-ms`, else `retry-after` in seconds. A date there is ignored, because the contract has none. */
function readWaitMs(headers: Headers): number | undefined {
  const read = (name: string, unitMs: number): number | undefined => {
    const waitMs = Number.parseFloat(headers.get(name) ?? "") * unitMs;
    return waitMs >= 0 ? waitMs : undefined;
  };
  return read("retry-after-ms", 1) ?? read("retry-after", 1000);
}
