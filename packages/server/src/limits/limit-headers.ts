import type { ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";
import type { Limits } from "./limits.ts";

const kinds = ["requests", "tokens"] as const;

/** The six headers that tell a caller where it stands, as of now. */
export async function setLimitHeaders(response: ServerResponse, limits: Limits, caller: Caller): Promise<void> {
  const standing = await limits.standing(caller);
  for (const kind of kinds) {
    const { limit, remaining, resetMs } = standing[kind];
    response.setHeader(`x-ratelimit-limit-${kind}`, limit);
    response.setHeader(`x-ratelimit-remaining-${kind}`, remaining);
    response.setHeader(`x-ratelimit-reset-${kind}`, formatDuration(resetMs));
  }
}

/** Takes the six headers away again: a 401 carries no limits (LIM-03). */
export function removeLimitHeaders(response: ServerResponse): void {
  for (const kind of kinds)
    for (const fact of ["limit", "remaining", "reset"]) response.removeHeader(`x-ratelimit-${fact}-${kind}`);
}

/** `0s`, `1s`, `6m0s`: whole seconds, rounded up, as the contract writes durations. */
function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
