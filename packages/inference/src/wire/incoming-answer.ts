import type { Dispatcher } from "undici";
import { ImpossibleEventError } from "../state-table.ts";
import type { Step } from "../state-table.ts";
import { states } from "./answer-states.ts";
import type { AnswerState } from "./answer-states.ts";
import type { AnswerHandler } from "./connection-pool.ts";
import type { PausableConnection } from "./pausable-client.ts";
import { readInTurn } from "./read-turns.ts";
import type { AnswerHeaders } from "./refused-answer.ts";
import { SocketPauses } from "./socket-pauses.ts";

/** The interval, in milliseconds, at which an answer that is not streamed is read. */
export const gatherMs = 50;

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
  #state: AnswerState = states.eager;
  #controller: Dispatcher.DispatchController | undefined;
  /** Undefined for a stream, and where the socket cannot be paused. */
  #pauses: SocketPauses | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #failure: unknown;
  #headers: AnswerHeaders = {};
  /** Ends the gathering of bytes; after the reader has left, ends the answer. */
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

  /** The headers of the answer, once it has begun. */
  get headers(): AnswerHeaders {
    return this.#headers;
  }

  /** Resolves with the next bytes. @throws the error of the connection, or the signal's reason */
  next(): Promise<IteratorResult<Buffer, undefined>> {
    this.#waits.count += 1;
    const isDue = this.#advance(this.#state.ask) === "answer";
    const due = isDue ? Promise.resolve() : new Promise<void>((resolve) => (this.#wake = resolve));
    return due.then(this.#take);
  }

  /**
   * Stops reading.
   * @param isWhole true if the last event has arrived. Then the answer may end by itself, and its connection can be used
   * again. Otherwise the request is aborted.
   */
  leave(isWhole: boolean): void {
    const action = this.#advance(this.#state.leave);
    this.#chunks = [];
    clearTimeout(this.#timer);
    if (action === "forget") return;
    const end = (): void => this.#controller?.abort(new Error("the rest of the answer is not wanted"));
    if (!isWhole) return end();
    this.#readAgain();
    this.#timer = setTimeout(end, endMs).unref();
  }

  onConnection(connection: PausableConnection): void {
    if (this.#isWhole) this.#pauses = new SocketPauses(connection, gatherMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#onAbort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders = {}): void {
    // Ignores 1xx responses, which precede the answer.
    if (status < 200) return;
    this.#headers = headers;
    this.#status.resolve(status);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const size = this.#size + chunk.length;
    const isFull = size >= maxWaiting;
    const action = this.#advance(isFull ? this.#state.full : this.#state.bytes);
    if (action === "drop") return;
    this.#chunks.push(chunk);
    this.#size = size;
    if (isFull) controller.pause();
    if (action === "queue") readInTurn(this.#takeTurn);
    if (action === "gather") this.#timer = setTimeout(this.#endGathering, gatherMs);
    if (action === "gather" || action === "pause") this.#pauses?.gather();
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
    this.#advance(this.#isWhole ? this.#state.takeWhole : this.#state.take);
    const [first, ...rest] = this.#chunks;
    if (!first) {
      if (this.#failure !== undefined) throw this.#failure;
      return { done: true, value: undefined };
    }
    this.#chunks = [];
    this.#size = 0;
    clearTimeout(this.#timer);
    this.#readAgain();
    return { done: false, value: rest.length === 0 ? first : Buffer.concat([first, ...rest]) };
  };

  readonly #takeTurn = (): void => {
    if (this.#advance(this.#state.turn) === "wake") this.#wake?.();
  };

  readonly #endGathering = (): void => {
    if (this.#advance(this.#state.tick) === "wake") this.#wake?.();
  };

  #end(failure: unknown): void {
    if (this.#advance(this.#state.end) === "ignore") return;
    this.#failure = failure;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#pauses?.resume();
    this.#wake?.();
  }

  #readAgain(): void {
    this.#pauses?.resume();
    if (this.#controller?.paused === true) this.#controller.resume();
  }

  /** Goes to the next state. @returns the action to take */
  #advance<A>(step: Step<A, AnswerState> | undefined): A {
    if (step === undefined) throw new ImpossibleEventError(this.#state.name);
    this.#state = step.next;
    return step.action;
  }
}
