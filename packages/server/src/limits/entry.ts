import { ApiError } from "../errors/api-error.ts";
import type { Hold } from "./limit-store.ts";

/** Statuses of requests that the service could not take, through no fault of their own. */
const serviceStatuses = new Set([402, 429, 503]);

/**
 * What a request holds from the end of its head: one request of the minute, a place among those at the same time, and the
 * memory that its body may take. It ends once: the first of `settle` and `cancel` counts. Leaving the block that uses it settles
 * it with nothing used.
 */
export class Entry implements AsyncDisposable {
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

  /** Waits for the work of the request. Gives everything back if the service refuses it after all. @throws what the work throws */
  async cancelIfRefused(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      if (thrown instanceof ApiError && serviceStatuses.has(thrown.status)) await this.cancel();
      throw thrown;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.settle(0);
  }
}
