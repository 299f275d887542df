import { cpus } from "node:os";

/** Milliseconds, summed up since the start of the machine or of this process. */
export interface ProcessorTimes {
  /** Of all processors together. */
  readonly idle: number;
  readonly total: number;
  /** That this process has used. */
  readonly own: number;
  readonly processors: number;
}

/** Looking more often would count single slices. */
const lookEveryMs = 100;

/**
 * How many processors this process could use now: those that it uses, and those that are idle. A thread too many makes
 * llama.cpp many times slower, because its threads wait for each other in loops that never sleep.
 */
export class FreeProcessors {
  readonly #read: () => ProcessorTimes;
  #last: ProcessorTimes;
  #free = 1;

  constructor(read: () => ProcessorTimes = readTimes) {
    this.#read = read;
    this.#last = read();
  }

  /** At least 1. */
  count(): number {
    const now = this.#read();
    const elapsed = (now.total - this.#last.total) / now.processors;
    if (elapsed < lookEveryMs) return this.#free;
    const available = (now.idle - this.#last.idle + now.own - this.#last.own) / elapsed;
    this.#last = now;
    // What the rest of this machine does in the background is no reason to leave a processor idle.
    this.#free = Math.max(1, Math.min(now.processors, Math.floor(available + 0.25)));
    return this.#free;
  }
}

function readTimes(): ProcessorTimes {
  const list = cpus().map(({ times }) => times);
  const { user, system } = process.cpuUsage();
  const idle = list.reduce((sum, times) => sum + times.idle, 0);
  const total = list.reduce((sum, times) => sum + times.idle + times.user + times.nice + times.sys + times.irq, 0);
  return { idle, total, own: (user + system) / 1000, processors: list.length };
}
