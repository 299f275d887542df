import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { RequestPace, maxPipelinedRequests } from "./pace-requests.ts";
import type { LoopTurns } from "../http/loop-turns.ts";

export interface PipelineOptions {
  /** Milliseconds for which a client may read nothing after the whole answer was written. Then its connection is reset. */
  readonly slowReaderMs: number;
  /** Milliseconds of silence after which the socket of a running request is closed. */
  readonly silenceMs: number;
  /** Called each time when all requests of the connection have been answered. */
  readonly onIdle: () => void;
  readonly turns: LoopTurns;
}

/**
 * Runs the requests of one connection one at a time, because HTTP demands that answers keep the order of their requests. So
 * a connection holds one answer in memory, however many requests it has sent. A connection on which more than
 * `maxPipelinedRequests` wait is closed.
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

  /** Calls `work` once every earlier request of the connection has been answered. `work` must answer the request. */
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
    // Requests that still wait on a closed connection never begin.
    const begin = this.#socket.destroyed ? undefined : this.#waiting.shift();
    if (begin) begin();
    else this.#options.onIdle();
  }
}
