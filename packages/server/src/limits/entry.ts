import type { Hold } from "./limit-store.ts";

/**
 * What a request holds from the end of its head: one request of the minute, a place among those at the same time, and the
 * memory that its body may take. It ends once: the first of `settle` and `cancel` counts.
 */
export class Entry {
  readonly #hold: Hold;
  readonly #freeBody: () => void;

  constructor(hold: Hold, freeBody: () => void) {
    this.#hold = hold;
    this.#freeBody = freeBody;
  }

  /** Takes tokens of the minute, once. @returns why there are none */
  takeTokens: Hold["takeTokens"] = (tokens) => this.#hold.takeTokens(tokens);

  /** The body is no longer kept. */
  freeBody(): void {
    this.#freeBody();
  }

  /** The request has ended, and its request of the minute is used. */
  async settle(usedTokens: number): Promise<void> {
    this.#freeBody();
    await this.#hold.settle(usedTokens);
  }

  /** The service could not take the request: everything is given back. */
  async cancel(): Promise<void> {
    this.#freeBody();
    await this.#hold.cancel();
  }
}
