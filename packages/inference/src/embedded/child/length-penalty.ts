import type { LogitsProcessor } from "./logits-processors.ts";

/**
 * Makes a long answer end. Once it has `after` tokens, each further token adds `perToken` to the logits of the tokens that end
 * it. (Hugging Face's `exponential_decay_length_penalty` is similar, for the end-of-turn token alone.)
 */
export interface LengthRules {
  /** The number of tokens that an answer may have before the penalty begins. */
  readonly after: number;
  readonly perToken: number;
}

/** The ids of the tokens that bring an answer closer to its end. */
export interface Ends {
  readonly ofAnswer: readonly number[];
  /** Needed under a grammar, where an answer cannot end before its strings and brackets are closed. */
  readonly quotes: readonly number[];
  readonly brackets: readonly number[];
}

/**
 * More than the largest difference between logits. With a larger value, a quote would no longer outrank a bracket: see
 * `maxShift` of the sampler.
 */
const maxBias = 200;

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
    const bias = Math.min(maxBias, excess * this.#rules.perToken);
    const { ofAnswer, quotes, brackets } = this.#ends;
    for (const token of ofAnswer) found.set(token, bias);
    if (!isConstrained) return found;
    for (const token of brackets) found.set(token, bias);
    // Inside a string, a bracket is ordinary text. The quote gets a larger bias, so that the string ends first.
    for (const token of quotes) found.set(token, 2 * bias);
    return found;
  }
}
