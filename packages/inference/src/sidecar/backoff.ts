/** Full jitter: anywhere between nothing and an exponentially growing bound, so that many never restart in step. */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Milliseconds to wait before the attempt-th restart in a row, the first being 0. @param random 0 to below 1 */
export function backoffMs(attempt: number, bounds: BackoffBounds, random: () => number): number {
  return Math.floor(random() * Math.min(bounds.maxMs, bounds.firstMs * 2 ** attempt));
}
