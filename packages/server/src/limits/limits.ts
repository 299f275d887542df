import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors/api-error.ts";
import type { Hold, LimitedKey, LimitStore, PerMinute, Shortage, Standing } from "./limit-store.ts";

/** The limits in the service's words. A key without limits of its own has the defaults of the server. */
export class Limits {
  readonly #store: LimitStore;
  readonly #defaults: PerMinute;

  /** @param defaults of a key without limits of its own; the store has those over all keys */
  constructor(store: LimitStore, defaults: PerMinute) {
    this.#store = store;
    this.#defaults = defaults;
  }

  standing(caller: Caller): Promise<Standing> {
    return this.#store.standing(this.#keyOf(caller));
  }

  /** Takes one request and one place. @throws {ApiError} 429 `rate_limit_exceeded` */
  async take(caller: Caller): Promise<Hold> {
    const taken = await this.#store.take(this.#keyOf(caller));
    if ("settle" in taken) return taken;
    throw exceeded(taken, 1);
  }

  #keyOf({ keyId, requestsPerMinute, tokensPerMinute, concurrency }: Caller): LimitedKey {
    const { requests, tokens } = this.#defaults;
    return {
      keyId,
      perMinute: { requests: requestsPerMinute ?? requests, tokens: tokensPerMinute ?? tokens },
      concurrency,
    };
  }
}

/** @param amount how much of that limit was asked for */
export function exceeded({ limit, bound, waitMs }: Shortage, amount: number): ApiError {
  const details = { limit };
  if (limit === "concurrency") {
    const message = `This key may have ${bound} requests under way at the same time. Wait for one of them to end.`;
    return new ApiError("rate_limit_exceeded", message, { details, retryAfterMs: 1000 });
  }
  if (waitMs === Number.POSITIVE_INFINITY) {
    const message = `This request needs up to ${amount} ${limit} and the limit is ${bound} a minute: it can never be admitted. Shorten the prompt or lower max_completion_tokens.`;
    const told = { details: { limit, requested: amount }, retryAfterMs: 60_000, isNonRetryable: true };
    return new ApiError("rate_limit_exceeded", message, told);
  }
  const message = `The limit of ${bound} ${limit} a minute is reached. Wait as long as retry-after says.`;
  return new ApiError("rate_limit_exceeded", message, { details, retryAfterMs: waitMs });
}
