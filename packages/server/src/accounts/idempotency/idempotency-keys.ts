import { settlesWithin } from "@parley/common/settles-within";
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
  readonly bounds: () => IdempotencyBounds;
}

export interface IdempotencyBounds {
  /** Milliseconds for which an answer is kept. */
  readonly keptMs: number;
  /** Maximum number of answers that are kept for one API key. */
  readonly maxAnswers: number;
  /** Maximum bytes of an answer that is kept, before its compression. */
  readonly maxAnswerBytes: number;
}

/** Milliseconds between two attempts to write what could not be written. */
const retryMs = 1000;
/** A round of attempts ends after this number of milliseconds if one of them fails. */
const maxRoundMs = 1000;
/** A claim whose answer was lost may still be made for this many milliseconds: longer than a statement may run. */
const doubtMs = 8000;
/** Maximum milliseconds for which the end of an answer waits until it is kept. */
const maxWaitMs = 2000;
/** An answer that cannot be written for this many milliseconds is given up, if its claim can be released. */
const maxKeepMs = 60_000;
/** The answers of one API key may take this number of times the bytes of the largest one. */
const maxLargeAnswers = 64;
/** Maximum number of writes that wait. Above it, no request with an idempotency key is taken. */
const maxUnwritten = 1000;
/** Maximum bytes of answers that wait to be written. */
const maxUnwrittenBytes = 64 * 1024 * 1024;

/** A write that is repeated until it succeeds. */
interface Unwritten {
  readonly write: () => Promise<void>;
  /** It is not tried before this time. */
  readonly fromMs: number;
  /** Present for an answer. */
  readonly kept?: { readonly claim: OwnClaim; readonly bytes: number; readonly sinceMs: number };
}

/**
 * The idempotency keys of running requests. While the store is away, requests with such a key are refused, because they might
 * run twice. A write that fails at the end of a request is repeated later.
 */
export class IdempotencyKeys implements AsyncDisposable {
  /** Answers that were not kept, by the reason: too large, or the store did not take them. */
  readonly unkept = { size: 0, store: 0 };
  readonly #options: IdempotencyOptions;
  readonly #unwritten = new Set<Unwritten>();
  #unwrittenBytes = 0;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> = Promise.resolve();

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void (this.#round = this.#round.then(() => this.#catchUp())), retryMs).unref();
  }

  /** Maximum bytes of an answer that is kept. */
  get maxAnswerBytes(): number {
    return this.#options.bounds().maxAnswerBytes;
  }

  /** @throws {ApiError} 503 `service_unavailable` while the store cannot be asked */
  async claim(claim: OwnClaim & Pick<IdempotencyClaim, "bodyHash">): Promise<ClaimOutcome> {
    const { store, nowMs, bounds } = this.#options;
    if (this.#unwritten.size >= maxUnwritten) throw away();
    const atMs = nowMs();
    try {
      return await store.claim({ ...claim, nowMs: atMs, expiresMs: atMs + bounds().keptMs });
    } catch (cause) {
      // The claim may have been made, or may still be.
      for (const waitMs of [0, doubtMs])
        this.#unwritten.add({ write: () => store.release(claim), fromMs: atMs + waitMs });
      throw away(cause);
    }
  }

  /** Keeps an answer. Never rejects. Until it is written, requests with its key are told that it runs. */
  async keep(claim: OwnClaim, answer: StoredAnswer): Promise<void> {
    const { store, nowMs } = this.#options;
    const { keptMs, maxAnswers, maxAnswerBytes } = this.#options.bounds();
    const sinceMs = nowMs();
    const bounds = { expiresMs: sinceMs + keptMs, maxAnswers, maxBytes: maxLargeAnswers * maxAnswerBytes };
    const write = (): Promise<void> => store.keep(claim, answer, bounds);
    await settlesWithin(
      this.#write({ write, fromMs: 0, kept: { claim, bytes: answer.body.length, sinceMs } }),
      maxWaitMs,
    );
  }

  /** Gives up a claim. Never rejects. */
  release(claim: OwnClaim): Promise<void> {
    return this.#write({ write: () => this.#options.store.release(claim), fromMs: 0 });
  }

  async #write(one: Unwritten): Promise<void> {
    try {
      await one.write();
    } catch (error) {
      this.#options.log.warn({ err: error }, "an idempotency key cannot be written: it is tried again every second");
      this.#unwritten.add(one);
      this.#unwrittenBytes += one.kept?.bytes ?? 0;
      if (one.kept && this.#unwrittenBytes > maxUnwrittenBytes) this.#giveUp(one, one.kept.claim);
    }
  }

  async #catchUp(): Promise<void> {
    const { store, nowMs } = this.#options;
    const endsMs = performance.now() + maxRoundMs;
    // A copy, because those that fail are added again.
    const due = [...this.#unwritten].filter(({ fromMs }) => fromMs <= nowMs());
    for (const one of due) {
      if (await succeeds(one.write())) {
        this.#forget(one);
        continue;
      }
      // The store may take small writes, and not this one.
      const isOld = one.kept !== undefined && nowMs() - one.kept.sinceMs >= maxKeepMs;
      if (isOld && (await succeeds(store.release(one.kept.claim)))) {
        this.#giveUp(one, one.kept.claim);
        continue;
      }
      // In the next round, it is tried after the others.
      this.#unwritten.delete(one);
      this.#unwritten.add(one);
      if (performance.now() > endsMs) return;
    }
  }

  #giveUp(one: Unwritten, claim: OwnClaim): void {
    this.#forget(one);
    this.#unwritten.add({ write: () => this.#options.store.release(claim), fromMs: 0 });
    this.unkept.store += 1;
    const message = "an answer could not be kept: a request that repeats it runs again";
    this.#options.log.error({ request_id: claim.requestId }, message);
  }

  #forget(one: Unwritten): void {
    this.#unwritten.delete(one);
    this.#unwrittenBytes -= one.kept?.bytes ?? 0;
  }

  /** Tries once more to write the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await this.#catchUp();
  }
}

const succeeds = (write: Promise<void>): Promise<boolean> =>
  write.then(
    () => true,
    () => false,
  );

const away = (cause?: unknown): ApiError =>
  new ApiError(
    "service_unavailable",
    "Idempotency keys cannot be looked up at the moment, so the request was not run. Send it again later.",
    { retryAfterMs: 2000, cause },
  );
