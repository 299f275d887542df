import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors/api-error.ts";

/** How many requests of each key are under way or waiting. */
export class Concurrency {
  readonly #running = new Map<string, number>();

  /** Counts one in; the result counts it out again. @throws {ApiError} 429 `rate_limit_exceeded` */
  enter(caller: Caller): () => void {
    const running = this.#running.get(caller.keyId) ?? 0;
    if (running >= (caller.concurrency ?? Number.POSITIVE_INFINITY)) {
      const message = `This key may have ${caller.concurrency} requests under way at the same time. Wait for one of them to end.`;
      throw new ApiError("rate_limit_exceeded", message, { details: { limit: "concurrency" }, retryAfterMs: 1000 });
    }
    this.#running.set(caller.keyId, running + 1);
    return () => {
      const left = (this.#running.get(caller.keyId) ?? 1) - 1;
      if (left === 0) this.#running.delete(caller.keyId);
      else this.#running.set(caller.keyId, left);
    };
  }
}
