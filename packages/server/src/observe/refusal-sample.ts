const windowMs = 60_000;
/** Anybody can be refused as often as they like, so only so many of these lines are written in a minute. */
export const maxLines = 600;

/** Which refusals of callers without a valid key are written to the log. */
export class RefusalSample {
  readonly #nowMs: () => number;
  #windowBeganMs: number;
  #written = 0;
  #leftOut = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#windowBeganMs = nowMs();
  }

  /** @returns how many were left out since the last one that was written; undefined: leave this one out, too */
  next(): number | undefined {
    if (this.#nowMs() - this.#windowBeganMs >= windowMs) {
      this.#windowBeganMs = this.#nowMs();
      this.#written = 0;
    }
    if (this.#written === maxLines) {
      this.#leftOut += 1;
      return undefined;
    }
    this.#written += 1;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut;
  }
}
