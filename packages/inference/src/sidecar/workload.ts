import { EngineError } from "../engine.ts";

/** What an engine is working on. */
export class Workload {
  #running = 0;
  #aborted = 0;
  #idle = Promise.withResolvers<void>();

  constructor() {
    this.#idle.resolve();
  }

  /** Choices under way. */
  get running(): number {
    return this.#running;
  }

  /** Requests whose generation was begun and did not come to its end. */
  get aborted(): number {
    return this.#aborted;
  }

  /** Passes on a generation of so many choices, and counts it while it runs. */
  async *count<T>(choices: number, generation: AsyncIterable<T>): AsyncGenerator<T> {
    let isOver = false;
    this.#begin(choices);
    try {
      for await (const batch of generation) yield batch;
      isOver = true;
    } catch (error) {
      // Neither has begun anything.
      isOver = error instanceof EngineError && (error.kind === "rejected" || error.kind === "unavailable");
      throw error;
    } finally {
      this.#end(choices);
      if (!isOver) this.#aborted += 1;
    }
  }

  /** Resolves when nothing runs any more, or after so long. */
  async untilIdle(timeoutMs: number): Promise<void> {
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, timeoutMs);
    await Promise.race([this.#idle.promise, deadline.promise]);
    clearTimeout(timer);
  }

  #begin(choices: number): void {
    if (this.#running === 0) this.#idle = Promise.withResolvers<void>();
    this.#running += choices;
  }

  #end(choices: number): void {
    this.#running -= choices;
    if (this.#running === 0) this.#idle.resolve();
  }
}
