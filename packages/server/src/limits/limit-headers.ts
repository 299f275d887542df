import type { ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";
import { formatDuration } from "./rate-limits.ts";
import type { RateLimits } from "./rate-limits.ts";

/** The six headers that tell a caller where it stands, as of now. */
export function setLimitHeaders(response: ServerResponse, limits: RateLimits, caller: Caller): void {
  const state = limits.state(caller);
  for (const kind of ["requests", "tokens"] as const) {
    const { limit, remaining, resetMs } = state[kind];
    response.setHeader(`x-ratelimit-limit-${kind}`, limit);
    response.setHeader(`x-ratelimit-remaining-${kind}`, remaining);
    response.setHeader(`x-ratelimit-reset-${kind}`, formatDuration(resetMs));
  }
}
