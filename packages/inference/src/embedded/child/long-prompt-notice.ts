import type { LogitsProcessor } from "./logits-processors.ts";

/** A fixed sentence that replaces the answer to a prompt that is too long for the model to answer sensibly. */
export interface LongPromptRules {
  /** Prompts of up to this many tokens are answered as usual. */
  readonly maxPromptTokens: number;
  /** The whole answer to a longer prompt; `{tokens}` stands for the number of its tokens. */
  readonly notice: string;
}

/**
 * Makes the tokens of a notice certain, one after the other. It does nothing under a grammar, because the caller was promised
 * that form.
 */
export class LongPromptNotice implements LogitsProcessor {
  readonly #tokens: readonly number[];
  #written = 0;

  /** @param tokens the notice, with the token that ends the turn */
  constructor(tokens: readonly number[]) {
    this.#tokens = tokens;
  }

  /** Ignores tokens that the form of the answer demands before the notice. */
  accept(token: number): void {
    if (token === this.#tokens[this.#written]) this.#written += 1;
  }

  biases(): ReadonlyMap<number, number> {
    return new Map();
  }

  certainToken(isConstrained: boolean): number | undefined {
    return isConstrained ? undefined : this.#tokens[this.#written];
  }
}
