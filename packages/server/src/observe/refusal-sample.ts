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

const quietMs = 10_000;
const maxFaults = 100;

/** Decides which faults of the service are logged: each text once in ten seconds, because a full disk fails all requests. */
export class RepeatedFaults {
  readonly #nowMs: () => number;
  /** The time of the last logged line, and the number of those left out since then, by text. Oldest first. */
  readonly #last = new Map<string, { readonly atMs: number; leftOut: number }>();

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @returns the number of faults with this text left out since the last logged one; undefined if this one is to be left out, too */
  next(text: string): number | undefined {
    const last = this.#last.get(text);
    if (last && this.#nowMs() - last.atMs < quietMs) {
      last.leftOut += 1;
      return undefined;
    }
    this.#last.delete(text);
    this.#last.set(text, { atMs: this.#nowMs(), leftOut: 0 });
    const [oldest] = this.#last.keys();
    if (this.#last.size > maxFaults && oldest !== undefined) this.#last.delete(oldest);
    return last?.leftOut ?? 0;
  }
}
