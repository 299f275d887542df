import type { Caller } from "../keys/caller.ts";
import { ApiError, storeAway } from "../../errors/api-error.ts";
import type { LimitedKey, LimitLease, LimitRefusal, LimitStates, LimitStore, PerMinute } from "./limit-store.ts";

/**
 * Applies a limit store to callers and turns refusals into API errors. A key without its own limits gets the server's
 * defaults.
 */
export class Limits {
  readonly #store: LimitStore;
  readonly #defaults: () => PerMinute;

  /** @param defaults returns the limits of a key without its own; the store has the limits over all keys */
  constructor(store: LimitStore, defaults: () => PerMinute) {
    this.#store = store;
    this.#defaults = defaults;
  }

  /** @throws {ApiError} 503 `service_unavailable` while the store cannot be reached */
  states(caller: Caller): Promise<LimitStates> {
    return this.#store.states(this.#keyOf(caller)).catch(storeAway);
  }

  /** Takes one request of the minute and one concurrent request. @throws {ApiError} 429 `rate_limit_exceeded`, 503 `service_unavailable` */
  async take(caller: Caller): Promise<LimitLease> {
    const taken = await this.#store.take(this.#keyOf(caller)).catch(storeAway);
    if ("commit" in taken) return taken;
    throw exceeded(taken, 1);
  }

  #keyOf({ keyId, requestsPerMinute, tokensPerMinute, concurrency }: Caller): LimitedKey {
    const { requests, tokens } = this.#defaults();
    return {
      keyId,
      perMinute: { requests: requestsPerMinute ?? requests, tokens: tokensPerMinute ?? tokens },
      concurrency,
    };
  }
}

/** @param amount the number of units that were asked for */
export function exceeded({ limit, bound, waitMs }: LimitRefusal, amount: number): ApiError {
  const details = { limit };
  if (limit === "concurrency") {
    const message = `This key may have ${bound} requests running at the same time. Wait for one of them to end.`;
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
