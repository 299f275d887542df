import { setTimeout as wait } from "node:timers/promises";
import type { RequestIdempotency } from "../accounts/idempotency/idempotency-keys.ts";
import type {
  ClaimOutcome,
  IdempotencyClaim,
  KeptBounds,
  OwnClaim,
  StoredAnswer,
} from "../accounts/idempotency/idempotency-store.ts";

/** Milliseconds between two attempts to release the claim of a dead worker. */
const retryMs = 500;

/** The idempotency keys as one worker uses them. It knows the claims of the worker, so they can be released when it dies. */
export class HeldIdempotency implements RequestIdempotency {
  readonly #store: RequestIdempotency;
  /** By the id of their request. */
  readonly #claims = new Map<string, OwnClaim>();
  #isOver = false;

  constructor(store: RequestIdempotency) {
    this.#store = store;
  }

  async claim(claim: IdempotencyClaim): Promise<ClaimOutcome> {
    const { keyId, idempotencyKey, requestId } = claim;
    this.#claims.set(requestId, { keyId, idempotencyKey, requestId });
    const outcome = await this.#store.claim(claim);
    if (outcome.kind !== "claimed") this.#claims.delete(requestId);
    else if (this.#isOver) await this.release(claim);
    return outcome;
  }

  async keep(claim: OwnClaim, answer: StoredAnswer, bounds: KeptBounds): Promise<void> {
    await this.#store.keep(claim, answer, bounds);
    this.#claims.delete(claim.requestId);
  }

  async release(claim: OwnClaim): Promise<void> {
    await this.#store.release(claim);
    this.#claims.delete(claim.requestId);
  }

  /** Releases the claims of the dead worker. Repeats it until the store can be written. */
  async releaseAll(signal: AbortSignal): Promise<void> {
    this.#isOver = true;
    for (const claim of this.#claims.values())
      while (!(await this.#tryToRelease(claim))) await wait(retryMs, undefined, { signal });
  }

  async #tryToRelease(claim: OwnClaim): Promise<boolean> {
    try {
      await this.release(claim);
      return true;
    } catch {
      return false;
    }
  }
}
