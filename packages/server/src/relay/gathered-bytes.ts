import { ApiError } from "../errors/api-error.ts";

/** The most bytes of answers that are not streamed, as JSON. */
export interface AnswerBounds {
  readonly ofAnswer: number;
  readonly ofAll: number;
}

/** The memory of one answer that is collected, or that waits for its reader. */
export interface HeldAnswer {
  /**
   * Counts bytes that the answer holds from now on.
   * @throws {ApiError} 400 `invalid_value` when the answer is too large; 503 when all answers together are and this one has to go
   */
  add(bytes: number): void;
  /** The answer is held no longer. It may be called again. */
  release(): void;
}

interface Held {
  readonly keyId: string;
  bytes: number;
  /** Ends the request with an error. Where its answer is being written, the connection is closed. */
  readonly end: (reason: ApiError) => void;
}

/**
 * Counts what answers that are not streamed hold, from their first token until their reader has them. When all together hold too
 * much, the largest answer of the key that holds most is given up, so that no key takes the memory of the others.
 */
export class GatheredBytes {
  readonly #bounds: AnswerBounds;
  readonly #held = new Set<Held>();
  #total = 0;
  #givenUp = 0;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
  }

  /** Bytes that are held. */
  get total(): number {
    return this.#total;
  }

  /** Answers that were given up for the memory of the others, since the start. */
  get givenUp(): number {
    return this.#givenUp;
  }

  open(keyId: string, end: Held["end"]): HeldAnswer {
    const held: Held = { keyId, bytes: 0, end };
    this.#held.add(held);
    return {
      add: (bytes) => {
        if (!this.#held.has(held)) return;
        held.bytes += bytes;
        this.#total += bytes;
        if (held.bytes > this.#bounds.ofAnswer) throw tooLarge(this.#bounds.ofAnswer);
        if (this.#total > this.#bounds.ofAll) this.#giveUpFor(held);
      },
      release: () => this.#release(held),
    };
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) this.#total -= held.bytes;
  }

  #giveUpFor(newcomer: Held): void {
    const victim = this.#largestOfLargestKey() ?? newcomer;
    this.#release(victim);
    this.#givenUp += 1;
    const reason = noMemory();
    victim.end(reason);
    if (victim === newcomer) throw reason;
  }

  #largestOfLargestKey(): Held | undefined {
    const byKey = Map.groupBy(this.#held, ({ keyId }) => keyId);
    const sum = (of: readonly Held[]): number => of.reduce((all, { bytes }) => all + bytes, 0);
    const largest = [...byKey.values()].reduce((a, b) => (sum(b) > sum(a) ? b : a), []);
    return largest.reduce<Held | undefined>((a, b) => (a && a.bytes >= b.bytes ? a : b), undefined);
  }
}

const tooLarge = (bytes: number): ApiError =>
  new ApiError(
    "invalid_value",
    `This answer became larger than ${bytes} bytes, the most for an answer that is not streamed. Send stream: true, or ask for fewer tokens, choices or top_logprobs.`,
    { param: "stream" },
  );

const noMemory = (): ApiError =>
  new ApiError(
    "service_unavailable",
    "Answers that are not streamed hold all the memory that the server has for them, and those of this key hold most. Send stream: true, or try again later.",
    { retryAfterMs: 5000 },
  );
