import { settlesWithin } from "@parley/common/settles-within";
import { EngineError } from "../engine.ts";

/** The running work of an engine. */
export class Workload {
  #running = 0;
  #aborted = 0;
  #idle = Promise.withResolvers<void>();

  constructor() {
    this.#idle.resolve();
  }

  /** The number of running choices. */
  get running(): number {
    return this.#running;
  }

  /** The number of requests whose generation began and did not complete. */
  get aborted(): number {
    return this.#aborted;
  }

  /**
   * Counts a generation as running.
   * @param choices of the generation
   * @returns a function to call when the generation has ended, with its error if it failed
   */
  begin(choices: number): (isWhole: boolean, failure?: unknown) => void {
    if (this.#running === 0) this.#idle = Promise.withResolvers<void>();
    this.#running += choices;
    return (isWhole, failure) => {
      this.#running -= choices;
      if (this.#running === 0) this.#idle.resolve();
      if (!isWhole && !neverBegan(failure)) this.#aborted += 1;
    };
  }

  /** Resolves when no generation runs, or after `timeoutMs` milliseconds. */
  async untilIdle(timeoutMs: number): Promise<void> {
    await settlesWithin(this.#idle.promise, timeoutMs);
  }
}

const neverBegan = (failure: unknown): boolean =>
  failure instanceof EngineError && (failure.kind === "rejected" || failure.kind === "unavailable");
