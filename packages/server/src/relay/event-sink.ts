import type { ServerResponse } from "node:http";
import contract from "../generated/contract.json" with { type: "json" };
import { HangUp } from "../errors/hang-up.ts";
import { waitForReader } from "./wait-for-reader.ts";

const maxBufferedBytes = contract["x-limits"].slowReaderBufferBytes.value;
const keepAlive = ": keep-alive\n\n";

const head = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export interface SinkTimings {
  /** Milliseconds of silence after which a comment keeps the connection open. */
  readonly keepAliveMs: number;
  /** Milliseconds for which a reader may read nothing while data waits for it. */
  readonly slowReaderMs: number;
}

/** The only writer of event streams. It writes no faster than the reader reads, and sends keep-alive comments in silence. */
export class EventSink implements Disposable {
  readonly #response: ServerResponse;
  readonly #slowReaderMs: number;
  readonly #signal: AbortSignal;
  readonly #keepAliveTimer: NodeJS.Timeout;

  /** The status line is sent with the first event, or by `sendHead`. The signal ends a wait for the reader. */
  constructor(response: ServerResponse, { keepAliveMs, slowReaderMs }: SinkTimings, signal: AbortSignal) {
    this.#response = response;
    this.#slowReaderMs = slowReaderMs;
    this.#signal = signal;
    response.writeHead(200, head);
    response.on("timeout", () => response.socket?.resetAndDestroy());
    this.#keepAliveTimer = setTimeout(() => this.#comment(), keepAliveMs);
  }

  /** Sends the status line alone, where an event is not there yet. */
  sendHead(): void {
    this.#response.flushHeaders();
  }

  /**
   * Writes events. Resolves at once while the buffer has space, else when the reader has emptied it.
   * @throws {HangUp} when the reader has disconnected or read nothing for too long; the signal's reason when it aborts
   */
  async write(events: string): Promise<void> {
    this.#send(events);
    if (this.#response.writableLength <= maxBufferedBytes) return;
    await waitForReader(this.#response, { slowReaderMs: this.#slowReaderMs, signal: this.#signal });
  }

  /** Writes the last events and ends. */
  end(events: string): void {
    this.#send(events);
    this.#response.end();
  }

  #send(events: string): void {
    this.#keepAliveTimer.refresh();
    if (this.#response.destroyed) throw new HangUp();
    this.#response.write(events);
  }

  #comment(): void {
    if (this.#response.writableLength === 0) this.#response.write(keepAlive);
    this.#keepAliveTimer.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#keepAliveTimer);
  }
}
