import type { ServerResponse } from "node:http";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { HangUpError } from "../../errors/hang-up.ts";
import { escapeLineEnds } from "../../http/escape-line-ends.ts";
import { waitForReader } from "./write-answer.ts";

const maxBufferedBytes = contract["x-limits"].slowReaderBufferBytes.value;
const keepAlive = ": keep-alive\n\n";

/** The headers of an event stream. */
export const streamHead = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export interface SinkTimings {
  /** Milliseconds of silence after which a comment keeps the connection open. */
  readonly keepAliveMs: number;
  /** Milliseconds for which a reader may read nothing while data waits for it. Then its connection is reset. */
  readonly slowReaderMs: number;
}

/** Writes an event stream, no faster than the reader reads it. Sends keep-alive comments while there are no events. */
export class EventSink implements Disposable {
  readonly #response: ServerResponse;
  readonly #slowReaderMs: number;
  readonly #signal: AbortSignal;
  readonly #keepAliveMs: number;
  #keepAliveTimer: NodeJS.Timeout;
  /** Time of the last write. */
  #writtenAt = performance.now();
  /** False for an HTTP/1.0 client, which reads the answer until the connection ends. */
  readonly #isChunked: boolean;
  /** The events that `flush` will write at the end of this round of the event loop. */
  #waiting = "";

  /** The status line is sent with the first event, or by `sendHead`. @param signal ends a wait for the reader */
  constructor(response: ServerResponse, { keepAliveMs, slowReaderMs }: SinkTimings, signal: AbortSignal) {
    this.#response = response;
    this.#slowReaderMs = slowReaderMs;
    this.#keepAliveMs = keepAliveMs;
    this.#signal = signal;
    response.writeHead(200, streamHead);
    // Node would write each chunk as four strings, which is slow. So the chunks are encoded here, as one string each.
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
    response.on("timeout", () => response.socket?.resetAndDestroy());
    this.#keepAliveTimer = setTimeout(this.#keepAlive, keepAliveMs);
  }

  /** True while no events wait in this process. The system sends what it has even if this process is killed. */
  get isAllSent(): boolean {
    return this.#waiting === "" && !this.#response.destroyed && this.#response.writableLength === 0;
  }

  /**
   * Sends the status line before the first event, with a comment, because some proxies hold back a head until a byte
   * follows it.
   */
  sendHead(): void {
    this.#response.write(this.#chunk(keepAlive));
  }

  /**
   * Writes events. If the buffer is full, returns a promise that resolves when the reader has emptied it.
   * @throws {HangUpError} when the reader has disconnected or read nothing for too long; the signal's reason when it aborts
   */
  write(events: string): Promise<void> | undefined {
    this.#assertRead();
    if (this.#waiting === "") writeLater(this);
    this.#waiting += events;
    if (this.#response.writableLength + this.#waiting.length <= maxBufferedBytes) return undefined;
    this.flush();
    return waitForReader(this.#response, { slowReaderMs: this.#slowReaderMs, signal: this.#signal });
  }

  /** Writes the waiting events. */
  flush(): void {
    const events = this.#take();
    // The reader may have disconnected since `write`.
    if (events === "" || this.#response.destroyed) return;
    // Corked here, because Node would cork the socket and uncork it only in the next tick.
    const { socket } = this.#response;
    socket?.cork();
    this.#response.write(this.#chunk(events));
    socket?.uncork();
  }

  /** Writes the last events and ends the response. */
  end(events: string): void {
    this.#assertRead();
    const last = this.#chunk(this.#take() + events);
    this.#response.end(this.#isChunked ? `${last}0\r\n\r\n` : last);
  }

  #assertRead(): void {
    this.#writtenAt = performance.now();
    if (this.#response.destroyed) throw new HangUpError();
  }

  readonly #keepAlive = (): void => {
    const silentMs = performance.now() - this.#writtenAt;
    const isDue = silentMs >= this.#keepAliveMs;
    if (isDue && this.#response.writableLength === 0) this.#response.write(this.#chunk(keepAlive));
    this.#keepAliveTimer = setTimeout(this.#keepAlive, isDue ? this.#keepAliveMs : this.#keepAliveMs - silentMs);
  };

  #take(): string {
    const events = this.#waiting;
    this.#waiting = "";
    return events;
  }

  #chunk(events: string): string {
    const byteLength = Buffer.byteLength(events);
    const text = escapeLineEnds(events, byteLength);
    if (!this.#isChunked) return text;
    const size = text === events ? byteLength : Buffer.byteLength(text);
    return `${size.toString(16)}\r\n${text}\r\n`;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#keepAliveTimer);
    this.#waiting = "";
  }
}

/** The streams with events to write at the end of this round of the event loop. */
let waiting: EventSink[] = [];

/** Schedules a flush. All streams share one `setImmediate`. */
function writeLater(sink: EventSink): void {
  if (waiting.length === 0) setImmediate(flushAll);
  waiting.push(sink);
}

function flushAll(): void {
  const due = waiting;
  waiting = [];
  for (const sink of due) sink.flush();
}
