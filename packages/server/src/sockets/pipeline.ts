import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { senderOf } from "../http/loop-turns.ts";
import type { LoopTurns } from "../http/loop-turns.ts";

/** Maximum number of requests that a connection may send before the first of them is answered. */
const maxPipelinedRequests = contract["x-limits"].maxPipelinedRequests.value;

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

/**
 * Slows down a connection that pipelines more than `maxPipelinedRequests` requests in one round of the event loop. Node may
 * read two megabytes of a connection in one round, and all other clients wait until the requests in them are answered. Such
 * connections are therefore read 64 KB at a time, and take turns.
 */
class RequestPace {
  readonly #socket: Socket;
  readonly #turns: LoopTurns;
  #ofThisRound = 0;
  #isWaiting = false;

  constructor(socket: Socket, turns: LoopTurns) {
    this.#socket = socket;
    this.#turns = turns;
    // Node resumes a socket after each request that it has read.
    socket.on("resume", () => void (this.#isWaiting && socket.pause()));
  }

  /** Counts a request of the connection. Must be called for each of them. */
  note(request: IncomingMessage): void {
    this.#ofThisRound += 1;
    if (this.#ofThisRound === 1) setImmediate(() => (this.#ofThisRound = 0));
    if (this.#ofThisRound > maxPipelinedRequests && !this.#isWaiting) void this.#waitForTurn(request);
  }

  async #waitForTurn(request: IncomingMessage): Promise<void> {
    this.#isWaiting = true;
    this.#socket.pause();
    await this.#turns.forChunks(senderOf(request));
    this.#isWaiting = false;
    this.#socket.resume();
  }
}
