import { ApiError } from "../../errors/api-error.ts";
import type { Lease } from "../../accounts/lease.ts";

/** Maximum number of body bytes in memory that are being read or validated. */
export interface BodyBounds {
  readonly maxOfKey: number;
  readonly maxInTotal: number;
}

/** Counts the bytes of bodies that are being read or validated, per key and in total. */
export class BodyBytes {
  readonly #bounds: () => BodyBounds;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(bounds: () => BodyBounds) {
    this.#bounds = bounds;
  }

  /** @throws {ApiError} 429 `rate_limit_exceeded` where the key has too many bytes, `capacity_exhausted` where all keys have */
  take(keyId: string, bytes: number): Lease<unknown> {
    const { maxOfKey, maxInTotal } = this.#bounds();
    if (this.#takenBy(keyId) + bytes > maxOfKey) throw tooManyOfKey();
    if (this.#total + bytes > maxInTotal) throw tooManyInTotal();
    this.#add(keyId, bytes);
    const free = (): void => this.#add(keyId, -bytes);
    return { commit: free, rollback: free };
  }

  #takenBy(keyId: string): number {
    return this.#taken.get(keyId) ?? 0;
  }

  #add(keyId: string, bytes: number): void {
    this.#total += bytes;
    const left = this.#takenBy(keyId) + bytes;
    if (left === 0) this.#taken.delete(keyId);
    else this.#taken.set(keyId, left);
  }
}

const tooManyOfKey = (): ApiError =>
  new ApiError(
    "rate_limit_exceeded",
    "This key sends too many large bodies at the same time. Wait for some to be read.",
    { details: { limit: "bytes" }, retryAfterMs: 1000 },
  );

const tooManyInTotal = (): ApiError =>
  new ApiError("capacity_exhausted", "Too many large bodies arrive at the same time. Try again in a moment.", {
    retryAfterMs: 1000,
  });
