import { ApiError } from "../../errors/api-error.ts";
import type { Log } from "../../observe/log.ts";
import type { ClaimOutcome, IdempotencyClaim, IdempotencyStore, OwnClaim, StoredAnswer } from "./idempotency-store.ts";

/** The methods of a store that requests need. */
export type RequestIdempotency = Pick<IdempotencyStore, "claim" | "keep" | "release">;

export interface IdempotencyOptions {
  readonly store: RequestIdempotency;
  readonly log: Log;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Milliseconds for which an answer is kept. */
  readonly keptMs: number;
  /** Maximum number of answers that are kept for one API key. */
  readonly maxAnswers: number;
  /** Maximum bytes of an answer that is kept, before its compression. */
  readonly maxAnswerBytes: number;
}

/** Milliseconds between two attempts to write what could not be written. */
const retryMs = 1000;
/** A claim whose answer was lost may still be made for this many milliseconds: longer than a statement may run. */
const doubtMs = 8000;

/**
 * The idempotency keys of running requests. While the store is away, requests with such a key are refused, because they might
 * run twice. A write that fails at the end of a request is repeated later.
 */
export class IdempotencyKeys implements AsyncDisposable {
  readonly maxAnswerBytes: number;
  readonly #options: IdempotencyOptions;
  readonly #unwritten = new Set<{ readonly write: () => Promise<void>; readonly fromMs: number }>();
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> = Promise.resolve();

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.maxAnswerBytes = options.maxAnswerBytes;
    this.#timer = setInterval(() => void (this.#round = this.#round.then(() => this.#catchUp())), retryMs).unref();
  }

  /** @throws {ApiError} 503 `service_unavailable` while the store cannot be asked */
  async claim(claim: OwnClaim & Pick<IdempotencyClaim, "bodyHash">): Promise<ClaimOutcome> {
    const { store, nowMs, keptMs } = this.#options;
    const atMs = nowMs();
    try {
      return await store.claim({ ...claim, nowMs: atMs, expiresMs: atMs + keptMs });
    } catch (cause) {
      // The claim may have been made, or may still be.
      for (const waitMs of [0, doubtMs])
        this.#unwritten.add({ write: () => store.release(claim), fromMs: atMs + waitMs });
      const message =
        "Idempotency keys cannot be looked up at the moment, so the request was not run. Send it again later.";
      throw new ApiError("service_unavailable", message, { retryAfterMs: 2000, cause });
    }
  }

  /** Keeps an answer. Never rejects. Until it is written, requests with its key are told that it runs. */
  keep(claim: OwnClaim, answer: StoredAnswer): Promise<void> {
    const { store, maxAnswers } = this.#options;
    return this.#write(() => store.keep(claim, answer, maxAnswers));
  }

  /** Gives up a claim. Never rejects. */
  release(claim: OwnClaim): Promise<void> {
    return this.#write(() => this.#options.store.release(claim));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#options.log.warn({ err: error }, "an idempotency key cannot be written: it is tried again every second");
      this.#unwritten.add({ write, fromMs: 0 });
    }
  }

  async #catchUp(): Promise<void> {
    for (const one of this.#unwritten) {
      if (one.fromMs > this.#options.nowMs()) continue;
      const isWritten = await one.write().then(
        () => true,
        () => false,
      );
      if (!isWritten) return;
      this.#unwritten.delete(one);
    }
  }

  /** Tries once more to write the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await this.#catchUp();
  }
}

/** Milliseconds between two removals of what has expired. */
const pruneEveryMs = 60_000;

/** Removes expired answers every minute. */
export class ExpiredAnswers implements AsyncDisposable {
  readonly #timer: NodeJS.Timeout;
  #round: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<IdempotencyStore, "prune">, nowMs: () => number, everyMs = pruneEveryMs) {
    // A store that is away is asked again in the next round.
    const prune = (): Promise<unknown> => store.prune(nowMs()).catch(() => undefined);
    this.#timer = setInterval(() => void (this.#round = this.#round.then(prune)), everyMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }
}
