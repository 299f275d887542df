import type { LogitsProcessor } from "./logits-processors.ts";

/**
 * From a length on, an answer is brought to its end: with every further token, the tokens that end it are more likely by
 * `perToken`, in logits. (Hugging Face's `exponential_decay_length_penalty` does the same to the end-of-turn token.)
 */
export interface LengthRules {
  /** Tokens that an answer may have before. */
  readonly after: number;
  readonly perToken: number;
}

/** Token ids. */
export interface Ends {
  readonly ofAnswer: readonly number[];
  /** Under a grammar, an answer cannot end before its strings and brackets are closed. */
  readonly quotes: readonly number[];
  readonly brackets: readonly number[];
}

export class LengthPenalty implements LogitsProcessor {
  readonly #rules: LengthRules;
  readonly #ends: Ends;
  #written = 0;

  constructor(rules: LengthRules, ends: Ends) {
    this.#rules = rules;
    this.#ends = ends;
  }

  accept(): void {
    this.#written += 1;
  }

  biases(isConstrained: boolean): ReadonlyMap<number, number> {
    const excess = this.#written - this.#rules.after;
    const found = new Map<number, number>();
    if (excess <= 0) return found;
    const bias = excess * this.#rules.perToken;
    const { ofAnswer, quotes, brackets } = this.#ends;
    for (const token of ofAnswer) found.set(token, bias);
    if (!isConstrained) return found;
    for (const token of brackets) found.set(token, bias);
    // Inside a string, a bracket is text like any other: the quote has to win.
    for (const token of quotes) found.set(token, 2 * bias);
    return found;
  }
}
