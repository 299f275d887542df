import { cpus } from "node:os";

/** Milliseconds since the start of the machine or of this process. */
export interface ProcessorTimes {
  /** Idle time of all processors together. */
  readonly idle: number;
  readonly total: number;
  /** CPU time that this process has used. */
  readonly own: number;
  readonly processors: number;
}

/** The minimum interval between two counts. Shorter intervals would count single scheduler slices. */
const lookEveryMs = 100;

/**
 * Counts the processors that this process could use now: those that it uses, and those that are idle. One thread too many makes
 * llama.cpp many times slower, because its threads wait for each other in busy loops.
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
    // The tolerance of 0.25 keeps background work of the machine from leaving a processor idle.
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
