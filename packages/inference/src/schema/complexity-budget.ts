/** The schema asks for more work than a request is worth; the message is fit for a caller. */
export class SchemaTooComplex extends Error {}

/** About 50 ms of one core: a schema of ordinary size takes one. */
const defaultSteps = 200_000;

/** Bounds the work that a hostile schema can make, whichever way it grows. One budget may serve several schemas. */
export class ComplexityBudget {
  #left: number;

  constructor(steps = defaultSteps) {
    this.#left = steps;
  }

  /** @throws {SchemaTooComplex} when nothing is left */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new SchemaTooComplex("the schema takes too much work to enforce");
  }
}
