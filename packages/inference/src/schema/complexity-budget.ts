/** Compiling the schema would take more work than one request may cause. The message may be shown to the caller. */
export class SchemaTooComplex extends Error {}

/** 100 to 400 ms on one core. A schema of ordinary size needs about 1 ms. */
const defaultSteps = 300_000;

/** Bounds the work that compiling a schema may cause, so that a hostile schema cannot occupy the server. */
export class ComplexityBudget {
  readonly #shared: ComplexityBudget | undefined;
  #left: number;

  /** @param shared a budget of several schemas together, from which every step is taken as well */
  constructor(steps = defaultSteps, shared?: ComplexityBudget) {
    this.#left = steps;
    this.#shared = shared;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Whether the schema would have gone on, had the others left it more. */
  get isSpentByOthers(): boolean {
    return !this.isSpent && this.#shared?.isSpent === true;
  }

  /** @throws {SchemaTooComplex} once the budget is spent */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new SchemaTooComplex("the schema takes too much work to enforce");
    this.#shared?.spendTogether(steps);
  }

  /** @throws {SchemaTooComplex} once the budget is spent */
  spendTogether(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0)
      throw new SchemaTooComplex(
        "the schemas of this request take too much work together: send fewer of them, or send the request again, since those that were compiled are kept",
      );
  }
}
