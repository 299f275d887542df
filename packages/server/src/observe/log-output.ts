import sonicBoom from "sonic-boom";

/** Bytes of the log that may wait to be written. Lines beyond are lost, so that a full disk costs no memory. */
export const maxWaitingBytes = 1024 * 1024;

/** Lines are written together: after so many milliseconds, or when there are so many bytes. A write costs more than a line. */
const groupMs = 20;
const groupBytes = 4096;

/**
 * Writes the log to a file descriptor without ever blocking the server. What cannot be written is tried again every second,
 * also when a disk is full or the reader of a pipe has stopped reading.
 */
export class LogOutput {
  readonly #file: sonicBoom.SonicBoom;
  /** Writes the lines that wait; undefined while none does. */
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #isGivenUp = false;
  #lost = 0;

  constructor(descriptor: number, onRecovered: (lost: number) => void) {
    // Node then makes a pipe non-blocking, and a thread that waited for its reader would hold up the end of the process.
    if (descriptor === process.stdout.fd) void process.stdout.writable;
    this.#file = new sonicBoom.SonicBoom({
      fd: descriptor,
      sync: false,
      // With 0, `flush` does nothing, neither every second nor at the end.
      minLength: groupBytes,
      maxLength: maxWaitingBytes,
      periodicFlush: 1000,
      retryEAGAIN: () => !this.#isGivenUp,
    });
    let reported = 0;
    this.#file.on("drop", () => (this.#lost += 1));
    this.#file.on("error", () => undefined); // the line waits for the next try
    this.#file.on("drain", () => {
      const lost = this.#lost - reported;
      reported = this.#lost;
      if (lost > 0) onRecovered(lost);
    });
  }

  /** Lines that were lost since the start. */
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
    const timer = setTimeout(resolve, withinMs);
    this.#file.flush(() => {
      // Only now: destroyed during a write, it would write nothing over and over, and keep the process alive.
      this.#file.destroy();
      resolve();
    });
    await promise;
    clearTimeout(timer);
    this.#isGivenUp = true;
  }
}
