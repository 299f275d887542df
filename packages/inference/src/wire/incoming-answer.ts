import type { Dispatcher } from "undici";
import type { AnswerHandler } from "./connection-pool.ts";
import type { PausableConnection } from "./pausable-client.ts";
import { readInTurn } from "./read-turns.ts";

/** The interval, in milliseconds, at which an answer that is not streamed is read. */
export const gatherMs = 50;

/**
 * The maximum length of a pause, as a share of the time that the answer has taken so far. It bounds the delay of the answer.
 */
const largestDelay = 0.05;

/** The minimum length of a pause in milliseconds. A shorter one would save nothing. */
const leastPauseMs = 4;

/** The connection is paused when this many bytes wait to be read. */
const maxWaiting = 64 * 1024;

/** The milliseconds in which an answer must end after its last event. */
const endMs = 1000;

/** The number of answers of one engine whose next bytes are awaited. */
export interface Waits {
  count: number;
}

/**
 * The bytes of one answer, as undici hands them over. A stream is read as it arrives. For an answer that is not streamed, the
 * first bytes are read at once, and the rest every 50 ms and at the end: decoding the bytes of each token separately would cost
 * much more. Once such an answer has taken 80 ms, its socket is paused between two reads as well. After a failure, `next` first
 * returns the bytes that arrived before it.
 */
export class IncomingAnswer implements AnswerHandler {
  readonly #isWhole: boolean;
  readonly #waits: Waits;
  readonly #status = Promise.withResolvers<number>();
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#controller?.abort(this.#signal.reason);
  readonly #startedMs = performance.now();
  #controller: Dispatcher.DispatchController | undefined;
  #connection: PausableConnection | undefined;
  /** True if the socket is paused or about to be. */
  #isPaused = false;
  #pauseTimer: NodeJS.Timeout | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #isBegun = false;
  #isDue = false;
  /** True while it waits for its turn to be read. */
  #isLate = false;
  #isOver = false;
  #isLeft = false;
  #failure: unknown;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  /** @param signal ends the answer @param waits counts this answer while its next bytes are awaited */
  constructor(signal: AbortSignal, isWhole: boolean, waits: Waits) {
    this.#signal = signal;
    this.#isWhole = isWhole;
    this.#waits = waits;
    signal.addEventListener("abort", this.#onAbort);
  }

  /** Resolves with the status code when the answer begins. After that, call `next` until it ends, or `leave`. */
  get status(): Promise<number> {
    return this.#status.promise;
  }

  /** Resolves with the next bytes. @throws the error of the connection, or the signal's reason */
  next(): Promise<IteratorResult<Buffer, undefined>> {
    this.#waits.count += 1;
    const due = this.#isDue ? Promise.resolve() : new Promise<void>((resolve) => (this.#wake = resolve));
    return due.then(this.#take);
  }

  /**
   * Stops reading.
   * @param isWhole true if the last event has arrived. Then the answer may end by itself, and its connection can be used
   * again. Otherwise the request is aborted.
   */
  leave(isWhole: boolean): void {
    this.#isLeft = true;
    this.#chunks = [];
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    const end = (): void => this.#controller?.abort(new Error("the rest of the answer is not wanted"));
    if (!isWhole) return end();
    this.#readAgain();
    this.#timer = setTimeout(end, endMs).unref();
  }

  onConnection(connection: PausableConnection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#onAbort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // Ignores 1xx responses, which precede the answer.
    if (status >= 200) this.#status.resolve(status);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isLeft) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const isFull = this.#size >= maxWaiting;
    if (isFull) controller.pause();
    if (this.#isDue || this.#isLate) return;
    if (!this.#isWhole || !this.#isBegun || isFull) return this.#becomeDueInTurn();
    this.#timer ??= setTimeout(this.#becomeDue, gatherMs);
    this.#pauseSoon();
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
    this.#status.reject(error);
  }

  readonly #take = (): IteratorResult<Buffer, undefined> => {
    this.#waits.count -= 1;
    const [first, ...rest] = this.#chunks;
    if (!first) {
      if (this.#failure !== undefined) throw this.#failure;
      return { done: true, value: undefined };
    }
    this.#chunks = [];
    this.#size = 0;
    this.#isBegun = true;
    this.#isDue = this.#isOver;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#readAgain();
    return { done: false, value: rest.length === 0 ? first : Buffer.concat([first, ...rest]) };
  };

  #end(failure: unknown): void {
    this.#isOver = true;
    this.#failure = failure;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#becomeDue();
  }

  /** Pauses the socket for a while. */
  #pauseSoon(): void {
    if (this.#isPaused || this.#connection === undefined) return;
    const pauseMs = Math.min(gatherMs, (performance.now() - this.#startedMs) * largestDelay);
    if (pauseMs < leastPauseMs) return;
    this.#isPaused = true;
    // Deferred: when this handler returns, undici reads from the socket, which would end the pause.
    queueMicrotask(() => this.#pause(pauseMs));
  }

  #pause(ms: number): void {
    if (!this.#isPaused || this.#isOver || this.#isLeft) return;
    this.#connection?.pause();
    // A pause of `gatherMs` needs no timer. It ends when `next` takes what has arrived.
    if (ms < gatherMs) this.#pauseTimer = setTimeout(this.#unpause, ms);
  }

  readonly #unpause = (): void => {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    clearTimeout(this.#pauseTimer);
    this.#connection?.resume();
  };

  #readAgain(): void {
    this.#unpause();
    if (this.#controller?.paused === true) this.#controller.resume();
  }

  #becomeDueInTurn(): void {
    this.#isLate = true;
    readInTurn(this.#becomeDue);
  }

  readonly #becomeDue = (): void => {
    this.#isLate = false;
    // An answer that was queued late may have been read by then.
    if (this.#chunks.length === 0 && !this.#isOver) return;
    this.#isDue = true;
    this.#wake?.();
  };
}
