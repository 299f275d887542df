import { ApiError } from "../../errors/api-error.ts";

/** Maximum number of bytes in memory of answers that are not streamed. */
export interface AnswerBounds {
  readonly ofAnswer: number;
  readonly ofAll: number;
}

/** The memory of one answer while it is collected and sent. */
export interface HeldAnswer {
  /**
   * Adds to the bytes that the answer holds.
   * @throws {ApiError} 400 `invalid_value` when the answer is too large; 503 when all answers together are too large and
   * this one is chosen to end
   */
  add(bytes: number): void;
  /** Releases the memory of the answer. Later calls do nothing. */
  release(): void;
}

interface Held {
  readonly keyId: string;
  bytes: number;
  /** Ends the request with an error. If its answer is being written already, the connection is closed. */
  readonly end: (reason: ApiError) => void;
}

/**
 * Counts the memory of answers that are not streamed, from the first token until the client has read them. When the total
 * exceeds its bound, the key with the most bytes loses its largest answer, so no key can use up the memory of the others.
 */
export class GatheredBytes {
  readonly #bounds: () => AnswerBounds;
  readonly #held = new Set<Held>();
  #total = 0;
  #givenUp = 0;

  constructor(bounds: () => AnswerBounds) {
    this.#bounds = bounds;
  }

  /** The bytes that all answers hold now. */
  get total(): number {
    return this.#total;
  }

  /** Number of answers that were ended because of the total, since the start. */
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
        const { ofAnswer, ofAll } = this.#bounds();
        if (held.bytes > ofAnswer) throw tooLarge(ofAnswer);
        if (this.#total > ofAll) this.#giveUpFor(held);
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
