import { settlesWithin } from "@parley/common/settles-within";
import sonicBoom from "sonic-boom";

/** Maximum number of bytes that wait to be written. Further lines are lost, so a full disk does not use up memory. */
export const maxWaitingBytes = 1024 * 1024;

/** Log lines are collected and written together: after `groupMs` milliseconds, or once they have `groupBytes` bytes. */
const groupMs = 20;
const groupBytes = 4096;

/**
 * Writes the log to a file descriptor, without ever blocking the server. Failed writes are retried every second, for
 * instance while a disk is full or the reader of a pipe does not read.
 */
export class LogOutput {
  readonly #file: sonicBoom.SonicBoom;
  /** The timer that writes the waiting lines; undefined while there are none. */
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #isGivenUp = false;
  #lost = 0;

  constructor(descriptor: number, onRecovered: (lost: number) => void) {
    // This makes Node set a pipe to non-blocking. Otherwise, a thread that waits for the reader would delay the end of the
    // process.
    if (descriptor === process.stdout.fd) void process.stdout.writable;
    this.#file = new sonicBoom.SonicBoom({
      fd: descriptor,
      sync: false,
      // With 0, `flush` would do nothing, neither every second nor at the end.
      minLength: groupBytes,
      maxLength: maxWaitingBytes,
      periodicFlush: 1000,
      retryEAGAIN: () => !this.#isGivenUp,
    });
    let reported = 0;
    this.#file.on("drop", () => (this.#lost += 1));
    this.#file.on("error", () => undefined); // the line waits for the next attempt
    this.#file.on("drain", () => {
      const lost = this.#lost - reported;
      reported = this.#lost;
      if (lost > 0) onRecovered(lost);
    });
  }

  /** Number of lines that were lost since the start. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    if (this.#isEnding) return;
    this.#file.write(line);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#file.flush();
    }, groupMs);
  }

  /** Writes the waiting lines, for at most `withinMs` milliseconds. Later lines are ignored. */
  async end(withinMs: number): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#file.flush(() => {
      // Destroyed only after the flush. If destroyed during a write, it would retry without end and keep the process alive.
      this.#file.destroy();
      resolve();
    });
    await settlesWithin(promise, withinMs);
    this.#isGivenUp = true;
  }
}
