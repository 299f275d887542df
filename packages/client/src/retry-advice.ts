import { noRetryAboveMs, retryHelps } from "@parley/contract/retry-rules";

/** Advice about a retry of the same request, from the contract's error catalogue and the headers of the answer. */
export interface RetryAdvice {
  /** `never`: the same request fails again. `after-wait`: it works after the wait. `maybe`: it may work. */
  readonly helps: "never" | "after-wait" | "maybe";
  /** Milliseconds to wait first, named by the service. Undefined: use exponential backoff with jitter. */
  readonly afterMs: number | undefined;
  /**
   * True if a program may retry without asking the caller. False if a retry fails again, if the wait is longer than a minute,
   * if the service says so (`x-should-retry: false`), and once an answer has begun.
   */
  readonly isAutomatic: boolean;
}

/** A retry may work, but the caller has to decide: an answer had begun and may be charged. */
export const askCaller: RetryAdvice = { helps: "maybe", afterMs: undefined, isAutomatic: false };

/** No response arrived: a retry with backoff may work. */
export const tryAgain: RetryAdvice = { ...askCaller, isAutomatic: true };

/** Returns the advice for an HTTP response. Without a code of the contract, the status decides. */
export function adviseRetry(code: string | null, status: number, headers: Headers): RetryAdvice {
  const helps = helpsOf(code, status);
  const afterMs = readWaitMs(headers);
  const isWelcome = headers.get("x-should-retry") !== "false" && (afterMs ?? 0) <= noRetryAboveMs;
  return { helps, afterMs, isAutomatic: helps !== "never" && isWelcome };
}

/** Returns how a retry may help, from the error code or else from the status. */
export function helpsOf(code: string | null, status: number): RetryAdvice["helps"] {
  // The guard before it makes the code a key of the table.
  if (code !== null && Object.hasOwn(retryHelps, code)) return retryHelps[code as keyof typeof retryHelps];
  return status === 408 || status === 429 || status >= 500 ? "maybe" : "never";
}

/**
 * Reads `retry-after-ms`, or else `retry-after` in seconds. The contract has no dates there, but a proxy may send one. A date
 * has whole seconds, and one that has passed is ignored.
 */
function readWaitMs(headers: Headers): number | undefined {
  const after = headers.get("retry-after") ?? "";
  const isDate = /^[a-z]/i.test(after);
  const waits = [
    Number.parseFloat(headers.get("retry-after-ms") ?? ""),
    isDate ? Date.parse(after) - Date.now() : Number.parseFloat(after) * 1000,
  ];
  return waits.find((waitMs) => waitMs >= 0);
}
