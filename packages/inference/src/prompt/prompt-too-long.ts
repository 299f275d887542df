import { RequestRefusedError } from "../request-refused.ts";

/** The prompt was not rendered, because it has more tokens than `maxTokens`. */
export class PromptTooLongError extends RequestRefusedError {
  override name = "PromptTooLongError";
  /** A lower bound of the prompt's tokens. */
  readonly tokens: number;

  constructor(tokens: number) {
    super(`The prompt has at least ${tokens} tokens, which is far more than the context holds.`);
    this.tokens = tokens;
  }
}
