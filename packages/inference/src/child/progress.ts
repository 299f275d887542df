/**
 * The counters that a watchdog reads: tokens evaluated (read or written) since the start of the engine process, and
 * evaluations that are running. If evaluations run and the tokens do not grow, the engine is stuck. If none runs, the engine
 * may be waiting for a slow reader.
 */
export class Progress {
  #tokens = 0;
  #computing = 0;

  get tokens(): number {
    return this.#tokens;
  }

  /** The number of running evaluations. */
  get computing(): number {
    return this.#computing;
  }

  async measure<T>(tokens: number, evaluation: () => Promise<T>): Promise<T> {
    this.#computing += 1;
    try {
      return await evaluation();
    } finally {
      this.#computing -= 1;
      this.#tokens += tokens;
    }
  }
}
