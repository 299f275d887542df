import type { LogitsProcessor } from "./logits-processors.ts";

/**
 * Sampling that does not repeat itself (llama.cpp and others call it DRY). A token that would continue a repetition of the
 * answer is `multiplier` × `base` ^ (repeated tokens − allowed) less likely, in logits. Only what the model has written counts,
 * so it may copy from its prompt as much as it likes.
 */
export interface DrySampling {
  readonly multiplier: number;
  readonly base: number;
  /** Tokens that may be repeated without a penalty. */
  readonly allowedTokens: number;
  /** The same limit for a single repeated digit. It is larger: an amount of wei ends with 18 zeros. */
  readonly allowedDigits: number;
}

/**
 * A repetition is compared up to this many tokens. The penalty is then larger than any difference between logits, so more
 * would change nothing.
 */
const longest = 64;

/** Tracks the tokens of one choice and finds those that would continue a repetition. */
export class LoopPenalty implements LogitsProcessor {
  readonly #rules: DrySampling;
  readonly #isDigit: (token: number) => boolean;
  readonly #written: number[] = [];

  constructor(rules: DrySampling, isDigit: (token: number) => boolean) {
    this.#rules = rules;
    this.#isDigit = isDigit;
  }

  accept(token: number): void {
    this.#written.push(token);
  }

  biases(): ReadonlyMap<number, number> {
    const { multiplier, base, allowedTokens, allowedDigits } = this.#rules;
    const found = new Map<number, number>();
    const digits = this.#digits();
    for (const [place, token] of this.#written.entries()) {
      const repeated = this.#repeatedBefore(place);
      const allowed = repeated <= digits ? allowedDigits : allowedTokens;
      if (repeated < allowed) continue;
      found.set(token, Math.min(found.get(token) ?? 0, -multiplier * base ** (repeated - allowed)));
    }
    return found;
  }

  /** Returns how often the last token is repeated at the end if it is a digit, otherwise 0. */
  #digits(): number {
    const last = this.#written.at(-1);
    if (last === undefined || !this.#isDigit(last)) return 0;
    return this.#written.length - 1 - this.#written.findLastIndex((token) => token !== last);
  }

  /** Counts the tokens right before `place` that equal the last tokens of the answer, in the same order. */
  #repeatedBefore(place: number): number {
    const written = this.#written;
    const most = Math.min(longest, place);
    let length = 0;
    while (length < most && written[place - 1 - length] === written[written.length - 1 - length]) length += 1;
    return length;
  }
}
