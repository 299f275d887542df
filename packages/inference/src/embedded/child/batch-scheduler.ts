/** Tokens of one sequence that are decoded in one batch. */
export interface DecodeJob {
  /** `prompt`: a slice of a prompt. Otherwise the tokens that a running answer has just written. */
  readonly kind: "prompt" | "answer";
  /** No other sequence may share the batch: see `BatchScheduler`. */
  readonly isSolo: boolean;
  /** The key that the work is for. Keys take turns. */
  readonly key: string;
  /** The id of the sequence. Sequences of one key take turns as well. */
  readonly sequence: object;
}

interface Waiting extends DecodeJob {
  /** Decodes the tokens and settles the promise of the waiting caller. Never rejects. */
  readonly decode: () => Promise<void>;
}

export interface SchedulerClock {
  /** Milliseconds. */
  readonly now: () => number;
  /** Resolves when all pending socket events and promises have been handled. */
  readonly nextCycle: () => Promise<unknown>;
}

/**
 * Decides which tokens llama.cpp decodes next. One batch at a time is decoded:
 *
 * - Running answers share a batch. Floating-point sums depend on what else is in the batch, and a small difference can lead to
 *   another sampled token. So a sequence whose text must be repeatable never shares a batch.
 * - A slice of a prompt never shares a batch. Keys take turns, and so do the prompts of one key.
 * - After a slice, running answers get as much time as the slice took, and all the time while no prompt waits. So answers and
 * prompts at most halve each other's speed.
 */
export class BatchScheduler {
  readonly #clock: SchedulerClock;
  #waiting: Waiting[] = [];
  #isDecoding = false;
  /** Milliseconds that answers may still take before the next prompt slice. */
  #answerTime = 0;
  /** The turn in which each key and sequence last had a prompt slice decoded. */
  readonly #lastTurn = { keys: new Map<string, number>(), sequences: new WeakMap<object, number>() };
  #turn = 0;

  constructor(clock: SchedulerClock) {
    this.#clock = clock;
  }

  /** Decodes in its turn. A job whose signal aborts while it waits is dropped, and the result is undefined. */
  async run<T>(job: DecodeJob, decode: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    if (signal.aborted) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    const waiting: Waiting = {
      ...job,
      decode: () => {
        signal.removeEventListener("abort", drop);
        return Promise.try(decode).then(resolve, reject);
      },
    };
    const drop = (): void => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      resolve(undefined);
    };
    signal.addEventListener("abort", drop, { once: true });
    this.#waiting.push(waiting);
    if (!this.#isDecoding) void this.#decodeAll();
    return promise;
  }

  async #decodeAll(): Promise<void> {
    this.#isDecoding = true;
    // Jobs that arrive at the same time, and answers that write their next token, share the next batch.
    await this.#clock.nextCycle();
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const begun = this.#clock.now();
      await Promise.all(batch.map((one) => one.decode()));
      const spent = this.#clock.now() - begun;
      this.#answerTime = batch[0]?.kind === "prompt" ? spent : this.#answerTime - spent;
      await this.#clock.nextCycle();
    }
    this.#isDecoding = false;
  }

  #take(): Waiting[] {
    const batch = this.#next();
    this.#waiting = this.#waiting.filter((one) => !batch.includes(one));
    return batch;
  }

  #next(): Waiting[] {
    const answers = this.#waiting.filter((one) => one.kind === "answer");
    const prompts = this.#waiting.filter((one) => one.kind === "prompt");
    const [first] = answers;
    if (first === undefined || (prompts.length > 0 && this.#answerTime <= 0)) return this.#nextPrompt(prompts);
    return first.isSolo ? [first] : answers.filter((one) => !one.isSolo);
  }

  /** Returns the next slice: of the key that has waited longest, the prompt that has waited longest. */
  #nextPrompt(prompts: readonly Waiting[]): Waiting[] {
    const { keys, sequences } = this.#lastTurn;
    const lastOf = (one: Waiting): readonly [number, number] => [
      keys.get(one.key) ?? 0,
      sequences.get(one.sequence) ?? 0,
    ];
    const [next] = prompts.toSorted((a, b) => {
      const [[keyOfA, ofA], [keyOfB, ofB]] = [lastOf(a), lastOf(b)];
      return keyOfA - keyOfB || ofA - ofB;
    });
    if (next === undefined) return [];
    this.#turn += 1;
    // Only waiting keys are compared, so the turns of all others can be forgotten.
    const known = new Set(prompts.map((one) => one.key));
    for (const key of keys.keys()) if (!known.has(key)) keys.delete(key);
    keys.set(next.key, this.#turn);
    sequences.set(next.sequence, this.#turn);
    return [next];
  }
}
