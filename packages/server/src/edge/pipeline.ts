import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { RequestPace, maxPipelinedRequests } from "./pace-requests.ts";
import type { LoopTurns } from "./loop-turns.ts";

export interface PipelineOptions {
  /** Milliseconds without a byte read by the client, after the whole answer was written; then its connection is closed. */
  readonly slowReaderMs: number;
  /** Milliseconds of silence after which the socket of a running request is closed. */
  readonly silenceMs: number;
  /** Called when every request of the connection has been answered. */
  readonly onIdle: () => void;
  readonly turns: LoopTurns;
}

/**
 * The requests of one connection. HTTP demands their answers in order, so one is worked on at a time: a connection holds the
 * answer of one request, however many it has sent. A connection on which too many wait is closed.
 */
export class Pipeline {
  readonly #socket: Socket;
  readonly #options: PipelineOptions;
  readonly #pace: RequestPace;
  #isBusy = false;
  readonly #waiting: (() => void)[] = [];

  constructor(socket: Socket, options: PipelineOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#pace = new RequestPace(socket, options.turns);
  }

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  /** Calls `work`, which has to answer, once every earlier request of the connection has been answered. */
  enter(response: ServerResponse, work: () => void): void {
    this.#pace.note(response.req);
    if (!this.#isBusy) this.#begin(response, work);
    else if (this.#waiting.length < maxPipelinedRequests) this.#waiting.push(() => this.#begin(response, work));
    else this.#socket.destroy();
  }

  #begin(response: ServerResponse, work: () => void): void {
    this.#isBusy = true;
    const { slowReaderMs, silenceMs } = this.#options;
    this.#socket.setTimeout(silenceMs);
    // The time-out of a socket starts again whenever its reader takes a byte.
    response.on("prefinish", () => response.setTimeout(slowReaderMs, () => this.#socket.resetAndDestroy()));
    response.on("close", () => this.#next());
    work();
  }

  #next(): void {
    this.#isBusy = false;
    // What still waits on a closed connection is never begun.
    const begin = this.#socket.destroyed ? undefined : this.#waiting.shift();
    if (begin) begin();
    else this.#options.onIdle();
  }
}
