import { stepsOfSchema } from "@parley/json-schema-grammar/complexity-budget";
import type { CompiledSchema } from "@parley/json-schema-grammar";

/**
 * `answer`: of the content. `strict`: the parameters of a function that is `strict`. `lenient`: other parameters, of
 * which as much is enforced as can be, in the worst case nothing.
 */
export type SchemaUse = "answer" | "strict" | "lenient";

/** For all schemas of one use together: 128 tools with a budget each would take seconds. */
const stepsOfUse: Readonly<Record<SchemaUse, number>> = {
  answer: stepsOfSchema,
  strict: stepsOfSchema,
  lenient: 800_000,
};

/** A schema that was compiled, and the steps that this took. */
export interface CountedSchema {
  readonly compiled: CompiledSchema;
  /** Infinite where it took more than the other schemas of the request had left. */
  readonly steps: number;
}

/**
 * The steps that the schemas of one request may take. Each takes its steps in their order, even if it was compiled for an
 * earlier request. So a request has the same outcome each time.
 */
export class RequestBudget {
  readonly #left = { ...stepsOfUse };

  /** The steps left for the next schema of that use. */
  left(use: SchemaUse): number {
    return this.#left[use];
  }

  /** True if other schemas of the request have taken some of the steps. */
  isShared(use: SchemaUse): boolean {
    return this.#left[use] < stepsOfUse[use];
  }

  /** True if that many steps were left. If not, nothing is. */
  take(use: SchemaUse, steps: number): boolean {
    const left = this.#left[use];
    this.#left[use] = Math.max(0, left - steps);
    return steps <= left;
  }
}
