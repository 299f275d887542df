import type { Socket } from "node:net";
import { buildConnector, Client } from "undici";
import type { Dispatcher } from "undici";

/** A connection whose socket can be paused. Bytes that arrive during a pause wait in the kernel. */
export interface PausableConnection {
  pause(): void;
  resume(): void;
}

/** All sockets read into this buffer. The bytes are copied at once. */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * One connection over HTTP/1.1 whose socket can be paused. The `pause` of undici stops only the parser, and the socket is
 * still read.
 */
export class PausableClient extends Client implements PausableConnection {
  /** True while it is in a pool's list of free connections. */
  isFree = false;
  #socket: Socket | null = null;
  /** True if a request was sent and no part of its answer has arrived. */
  #isHeadDue = false;

  /** @param connect opens its socket */
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
    // This starts reading as `resume` does, but emits no event.
    this.#socket?.read(0);
  }

  #connect(connect: buildConnector.BuildOptions, asked: buildConnector.Options, done: buildConnector.Callback): void {
    let socket: Socket | null = null;
    const onread = {
      // `pause` stops the reading of a socket only where it has such a buffer.
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

  /**
   * Copies the head of an answer into its own memory. Small buffers share slabs of 64 KiB, and undici keeps the head, and so
   * its slab, until the answer ends.
   */
  #copy(bytes: Uint8Array): Uint8Array {
    const isHead = this.#isHeadDue;
    this.#isHeadDue = false;
    return isHead ? new Uint8Array(bytes) : Buffer.from(bytes);
  }
}
