/** An idempotency key of an API key, with the body that it was sent with. */
export interface IdempotencyClaim {
  /** The API key. Equal idempotency keys of two API keys have nothing to do with each other. */
  readonly keyId: string;
  /** 1 to 255 printable ASCII characters. */
  readonly idempotencyKey: string;
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string;
  /** The id of the request that claims. */
  readonly requestId: string;
  readonly nowMs: number;
  /** The time from which a claim that a dead server has left may be removed. A claim that runs never expires. */
  readonly expiresMs: number;
}

/** The bounds within which an answer is kept. */
export interface KeptBounds {
  /** The time from which the answer no longer counts. */
  readonly expiresMs: number;
  /** Maximum number of answers of its API key, and of their bytes as they are stored. The oldest above it are removed. */
  readonly maxAnswers: number;
  readonly maxBytes: number;
}

/** An answer that is kept for later requests with its idempotency key. */
export interface StoredAnswer {
  /** The id of the request that was answered. */
  readonly requestId: string;
  readonly isStream: boolean;
  /** The value of the header `x-ignored-params`; undefined if there was none. */
  readonly ignored: string | undefined;
  /** The body as it was sent, compressed with gzip. Comments of a stream are left out. */
  readonly body: Uint8Array;
}

/**
 * The outcome of a claim. `claimed`: the request must run now. `running`: another request with this key runs. `other body`:
 * the key was sent with another body. `answered`: the request was answered before.
 */
export type ClaimOutcome =
  | { readonly kind: "claimed" }
  | { readonly kind: "running"; readonly requestId: string }
  | { readonly kind: "other body"; readonly requestId: string }
  | { readonly kind: "answered"; readonly answer: StoredAnswer };

/** A claim by its request. A call about a claim that another request has taken over changes nothing. */
export type OwnClaim = Pick<IdempotencyClaim, "keyId" | "idempotencyKey" | "requestId">;

/**
 * Stores the answers of requests with an idempotency key.
 *
 * Every method is atomic: of any number of claims of one key, on any number of servers, one is `claimed` until it is released
 * or answered. A claim of a dead server counts no longer once its death is known, as with its ledger entries. A method rejects when the
 * store cannot be reached. Then a `claim` may have been made: it is released like one of a dead server, or by its request.
 *
 * `idempotencyStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface IdempotencyStore {
  claim(claim: IdempotencyClaim): Promise<ClaimOutcome>;
  /** Keeps the answer of a claimed request. */
  keep(claim: OwnClaim, answer: StoredAnswer, bounds: KeptBounds): Promise<void>;
  /** Gives up a claim without an answer, so the next request with its key runs. */
  release(claim: OwnClaim): Promise<void>;
  /** Removes answers, and claims of dead servers, that expired before a time. @returns the number of removed ones */
  prune(expiredBeforeMs: number): Promise<number>;
}
