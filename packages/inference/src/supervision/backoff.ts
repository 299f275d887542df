/**
 * Bounds of a backoff with full jitter: a random time below an exponentially growing bound, so that many processes do not
 * restart at the same time.
 */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Returns the milliseconds to wait before restart number `attempt` in a row, counted from 0. @param random 0 to below 1 */
export function backoffMs(attempt: number, bounds: BackoffBounds, random: () => number): number {
  return Math.floor(random() * Math.min(bounds.maxMs, bounds.firstMs * 2 ** attempt));
}
