/** Compiling the schema would take more work than one request may cause. The message may be shown to the caller. */
export class SchemaTooComplex extends Error {}

/** 100 to 400 ms on one core. A schema of ordinary size needs about 1 ms. */
const defaultSteps = 300_000;

/**
 * Bounds the work that compiling a schema may cause, so that a hostile schema cannot occupy the server. Several schemas
 * can share one budget.
 */
export class ComplexityBudget {
  #left: number;

  constructor(steps = defaultSteps) {
    this.#left = steps;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** @throws {SchemaTooComplex} once the budget is spent */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new SchemaTooComplex("the schema takes too much work to enforce");
  }
}
