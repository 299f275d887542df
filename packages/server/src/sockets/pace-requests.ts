import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { senderOf } from "../http/loop-turns.ts";
import type { LoopTurns } from "../http/loop-turns.ts";

/** Maximum number of requests that a connection may send before the first of them is answered. */
export const maxPipelinedRequests = contract["x-limits"].maxPipelinedRequests.value;

/**
 * Slows down a connection that pipelines more than `maxPipelinedRequests` requests in one round of the event loop. Node may
 * read two megabytes of a connection in one round, and all other clients wait until the requests in them are answered. Such
 * connections are therefore read 64 KB at a time, and take turns.
 */
export class RequestPace {
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
