/** The part of the text that is safe to emit, and whether a stop string has ended the text. */
export interface Released {
  readonly text: string;
  readonly isStopped: boolean;
}

/**
 * Holds back the end of the text while it may still become a stop string. The text ends before the first stop string,
 * which is never part of it.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";

  constructor(stops: readonly string[]) {
    // The decoded text has no lone surrogates, so a stop string with one could only match half of a character.
    this.#stops = stops.map((stop) => stop.toWellFormed());
  }

  push(text: string): Released {
    if (this.#stops.length === 0) return { text, isStopped: false };
    const whole = this.#held + text;
    const start = this.#firstStop(whole);
    if (start !== undefined) {
      this.#held = "";
      return { text: whole.slice(0, start), isStopped: true };
    }
    const keep = whole.length - this.#possibleStart(whole);
    this.#held = whole.slice(keep);
    return { text: whole.slice(0, keep), isStopped: false };
  }

  /** Ends a text that met no stop string. Returns the part that was held back. */
  flush(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }

  /** Returns the start of the stop string that is complete first, so the result does not depend on how the text is split. */
  #firstStop(text: string): number | undefined {
    const found = this.#stops
      .map((stop) => ({ start: text.indexOf(stop), length: stop.length }))
      .filter(({ start }) => start >= 0)
      .toSorted((a, b) => a.start + a.length - (b.start + b.length) || a.start - b.start);
    return found[0]?.start;
  }

  /** The length of the longest end of the text that is a proper prefix of a stop string. */
  #possibleStart(text: string): number {
    let longest = 0;
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(stop.slice(0, length))) longest = length;
      }
    }
    return longest;
  }
}
