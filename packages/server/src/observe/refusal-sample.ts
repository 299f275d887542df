const windowMs = 60_000;
/** Maximum number of these lines per minute, because anyone can cause any number of refusals. */
export const maxLines = 600;

/** Decides which refusals of callers without a valid key are logged. */
export class RefusalSample {
  readonly #nowMs: () => number;
  #windowBeganMs: number;
  #written = 0;
  #leftOut = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#windowBeganMs = nowMs();
  }

  /** @returns the number of refusals left out since the last logged one; undefined if this one is to be left out, too */
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
