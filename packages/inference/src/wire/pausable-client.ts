import type { Socket } from "node:net";
import { buildConnector, Client } from "undici";
import type { Dispatcher } from "undici";

/** A connection that can be left unread for a while. What arrives meanwhile is read at once afterwards. */
export interface PausableConnection {
  pause(): void;
  resume(): void;
}

/** Where all sockets put what they read, until it is copied. */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/** One connection over HTTP/1.1, whose socket can stop reading. The pause that undici offers stops its parser only. */
export class PausableClient extends Client implements PausableConnection {
  /** It waits in a pool for the next request. */
  isFree = false;
  #socket: Socket | null = null;
  /** The next bytes begin an answer. */
  #isHeadDue = false;

  /** @param connect how its socket is opened */
  constructor(origin: string, connect: buildConnector.BuildOptions, options: Client.Options) {
    super(origin, { ...options, connect: (asked, done) => this.#connect(connect, asked, done) });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#isHeadDue = true;
    return super.dispatch(options, handler);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    // It makes the socket read again, as `resume` does, without an event that nobody waits for.
    this.#socket?.read(0);
  }

  #connect(connect: buildConnector.BuildOptions, asked: buildConnector.Options, done: buildConnector.Callback): void {
    let socket: Socket | null = null;
    const onread = {
      // Only a socket with a buffer of its own stops reading when it is paused.
      buffer: received,
      callback: (size: number, bytes: Uint8Array) => socket?.push(this.#copy(bytes.subarray(0, size))) ?? false,
    };
    const open = buildConnector({ ...connect, onread });
    open(asked, (...result) => {
      [, socket] = result;
      this.#socket = socket;
      done(...result);
    });
  }

  /** undici keeps the head of an answer until its end. In the pool of small buffers, it would keep 64 KiB in memory. */
  #copy(bytes: Uint8Array): Buffer {
    if (!this.#isHeadDue) return Buffer.from(bytes);
    this.#isHeadDue = false;
    const copy = Buffer.allocUnsafeSlow(bytes.length);
    copy.set(bytes);
    return copy;
  }
}
