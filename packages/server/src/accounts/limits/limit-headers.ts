import type { ServerResponse } from "node:http";
import type { LimitStates } from "./limit-store.ts";

const kinds = ["requests", "tokens"] as const;

/** Sets the six headers that tell a caller the current state of its limits. */
export function setLimitHeaders(response: ServerResponse, states: LimitStates): void {
  for (const kind of kinds) {
    const { limit, remaining, resetMs } = states[kind];
    response.setHeader(`x-ratelimit-limit-${kind}`, limit);
    response.setHeader(`x-ratelimit-remaining-${kind}`, remaining);
    response.setHeader(`x-ratelimit-reset-${kind}`, formatDuration(resetMs));
  }
}

/** Removes the six headers, because a 401 carries no limits (LIM-03). */
export function removeLimitHeaders(response: ServerResponse): void {
  for (const kind of kinds)
    for (const fact of ["limit", "remaining", "reset"]) response.removeHeader(`x-ratelimit-${fact}-${kind}`);
}

/** Formats a duration as the contract demands, in whole seconds, rounded up: `0s`, `1s`, `6m0s`. */
function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
