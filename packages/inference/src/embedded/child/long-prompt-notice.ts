import type { LogitsProcessor } from "./logits-processors.ts";

/** The sentence that a model answers a long prompt with, in place of noise. */
export interface LongPromptRules {
  /** Prompts of up to so many tokens are answered as usual. */
  readonly maxPromptTokens: number;
  /** The whole answer to a longer prompt; `{tokens}` stands for the number of its tokens. */
  readonly notice: string;
}

/** Above every logit and every bias of a caller, and a float still tells it from the logits of other tokens. */
const certain = 1e6;

/**
 * Makes the tokens of a notice certain, one after the other. A grammar decides alone: what the caller was promised a form for
 * keeps that form.
 */
export class LongPromptNotice implements LogitsProcessor {
  readonly #tokens: readonly number[];
  #written = 0;

  /** @param tokens the notice, with the token that ends the turn */
  constructor(tokens: readonly number[]) {
    this.#tokens = tokens;
  }

  /** Tokens that the form of the answer demands come before the notice, and are not a part of it. */
  accept(token: number): void {
    if (token === this.#tokens[this.#written]) this.#written += 1;
  }

  biases(isConstrained: boolean): ReadonlyMap<number, number> {
    const next = this.#tokens[this.#written];
    return new Map(isConstrained || next === undefined ? [] : [[next, certain]]);
  }
}
