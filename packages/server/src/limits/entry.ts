import { ApiError } from "../errors/api-error.ts";
import type { Hold } from "./limit-store.ts";

/** Statuses that say that the service could not take a request. The request itself may be faultless. */
const serviceStatuses = new Set([402, 429, 503]);

/**
 * The resources of a request since its head was read: one request of the minute, one concurrent request, and memory for its
 * body. It ends once: the first call of `settle` or `cancel` counts. Disposal settles it with nothing used.
 */
export class Entry implements AsyncDisposable {
  readonly #hold: Hold;
  readonly #freeBody: () => void;

  constructor(hold: Hold, freeBody: () => void) {
    this.#hold = hold;
    this.#freeBody = freeBody;
  }

  /** The most tokens of a minute that a request of this key can ever have. */
  get tokenLimit(): number {
    return this.#hold.tokenLimit;
  }

  /** Takes tokens of the minute. May be called once. @returns the limit that is in the way, if nothing was taken */
  takeTokens: Hold["takeTokens"] = (tokens) => this.#hold.takeTokens(tokens);

  /** Releases the memory of the body, which is no longer kept. */
  freeBody(): void {
    this.#freeBody();
  }

  /** Ends the entry of a request that was served. Its request of the minute is used. */
  async settle(usedTokens: number): Promise<void> {
    this.#freeBody();
    await this.#hold.settle(usedTokens);
  }

  /** Ends the entry of a request that the service could not take. Gives everything back. */
  async cancel(): Promise<void> {
    this.#freeBody();
    await this.#hold.cancel();
  }

  /**
   * Waits for the work of the request. Gives everything back if the work ends with 402, 429 or 503.
   * @throws every error of the work
   */
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
