/**
 * What a watchdog needs to know: the tokens evaluated since the start of an engine process, read or written, and whether
 * anything is being evaluated. Where tokens stand still meanwhile, the engine is stuck; where nothing is evaluated, it
 * may just wait for a slow reader.
 */
export class Progress {
  #tokens = 0;
  #computing = 0;

  get tokens(): number {
    return this.#tokens;
  }

  /** Evaluations under way. */
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
