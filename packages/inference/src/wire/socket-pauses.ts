import { ImpossibleEventError, move, rowsOf } from "../state-table.ts";
import type { Row, StateTable, Step } from "../state-table.ts";
import type { PausableConnection } from "./pausable-client.ts";

/** The maximum length of a pause, as a share of the time that the answer has taken so far. It bounds the delay of the answer. */
const maxDelayShare = 0.05;

/** The minimum length of a pause in milliseconds. A shorter one would save nothing. */
const minPauseMs = 4;

type State = "flowing" | "deferred" | "paused";
type Event = "gather" | "defer" | "run" | "resume";

/**
 * The states of a socket whose answer is gathered. `gather`: bytes have arrived that are not read at once, so a pause may be
 * worthwhile (`defer`). The pause begins when undici has handled the bytes (`run`): undici then reads from the socket, which
 * would end the pause. A run whose pause was cancelled is ignored.
 */
const table = {
  flowing: {
    gather: move("consider", "flowing"),
    defer: move("defer", "deferred"),
    run: move("ignore", "flowing"),
    resume: move("ignore", "flowing"),
  },
  deferred: {
    gather: move("ignore", "deferred"),
    run: move("pause", "paused"),
    resume: move("resume", "flowing"),
  },
  paused: {
    gather: move("ignore", "paused"),
    run: move("ignore", "paused"),
    resume: move("resume", "flowing"),
  },
} satisfies StateTable<State, Event>;

export const states = rowsOf(table);

/** Pauses the socket of an answer while its bytes are gathered, so that they arrive in fewer reads. */
export class SocketPauses {
  readonly #connection: PausableConnection;
  readonly #maxPauseMs: number;
  readonly #startedMs = performance.now();
  #state: Row<typeof table> = states.flowing;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxPauseMs a pause of this length has no timer, because the next read of the answer ends it */
  constructor(connection: PausableConnection, maxPauseMs: number) {
    this.#connection = connection;
    this.#maxPauseMs = maxPauseMs;
  }

  /** Pauses the socket for a twentieth of the time that the answer has taken so far, if that is long enough. */
  gather(): void {
    if (this.#advance(this.#state.gather) === "ignore") return;
    const pauseMs = Math.min(this.#maxPauseMs, (performance.now() - this.#startedMs) * maxDelayShare);
    if (pauseMs < minPauseMs) return;
    this.#advance(this.#state.defer);
    queueMicrotask(() => this.#run(pauseMs));
  }

  /** Ends a pause, or cancels it before it has begun. */
  readonly resume = (): void => {
    if (this.#advance(this.#state.resume) === "ignore") return;
    clearTimeout(this.#timer);
    this.#connection.resume();
  };

  #run(pauseMs: number): void {
    if (this.#advance(this.#state.run) === "ignore") return;
    this.#connection.pause();
    if (pauseMs < this.#maxPauseMs) this.#timer = setTimeout(this.resume, pauseMs);
  }

  /** Goes to the next state. @returns the action to take */
  #advance<A>(step: Step<A, Row<typeof table>> | undefined): A {
    if (step === undefined) throw new ImpossibleEventError(this.#state.name);
    this.#state = step.next;
    return step.action;
  }
}
