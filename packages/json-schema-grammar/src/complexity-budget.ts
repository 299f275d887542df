/** Compiling the schema would take more work than one request may cause. The message may be shown to the caller. */
export class SchemaTooComplexError extends Error {
  override name = "SchemaTooComplexError";
}

/** The default number of steps: 100 to 300 ms of one core. A schema of ordinary size needs less than 1 ms. */
export const stepsOfSchema = 600_000;

/**
 * Bounds the work that compiling a schema may cause, so that a hostile schema cannot occupy the server. A step is about 0.3 µs
 * of one core, whatever the work is: `pnpm schemas --compile` measures it. Steps are counted instead of time, so a schema has
 * the same outcome on a busy machine.
 */
export class ComplexityBudget {
  readonly #steps: number;
  #left: number;

  /** @param steps at least 0 */
  constructor(steps = stepsOfSchema) {
    this.#steps = steps;
    this.#left = steps;
  }

  /** True once more steps were needed than there are. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** The number of steps so far, at most that of the budget. */
  get spent(): number {
    return this.#steps - Math.max(0, this.#left);
  }

  /** @throws {SchemaTooComplexError} once the budget is spent */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new SchemaTooComplexError("the schema takes too much work to enforce");
  }
}
