import { EngineError } from "@parley/inference";
import type { EngineUsage } from "@parley/inference";

/** A running request, which receives its usage and its outcome. */
export interface Metered {
  /** Replaces the usage. `usage` is the total so far. */
  count(usage: EngineUsage): void;
  /** One of its choices is finished. */
  endChoice(): void;
  /** The answer is whole. */
  complete(): void;
  /** The request ends with this error. A `HangUp` does not count as a failure, because the client caused it. */
  fail(error: unknown): void;
}

/** Checks the usage that an engine's events report, and forwards usage and outcome to the running request. */
export class Meter {
  readonly #running: Metered;
  readonly #onFirst: () => void;
  #usage: EngineUsage | undefined;

  /** @param onFirst called with the first event */
  constructor(running: Metered, onFirst: () => void) {
    this.#running = running;
    this.#onFirst = onFirst;
  }

  /** The total usage so far; undefined before the first event. */
  get usage(): EngineUsage | undefined {
    return this.#usage;
  }

  /** @throws {EngineError} `protocol` for counts that are not integers of 0 or more */
  count(usage: EngineUsage): void {
    if (!this.#usage) this.#onFirst();
    assertCounts(usage);
    this.#usage = usage;
    this.#running.count(usage);
  }

  /** One of its choices is finished. */
  endChoice(): void {
    this.#running.endChoice();
  }

  /** The answer is whole. */
  complete(): void {
    this.#running.complete();
  }

  /** The answer ended with this error. */
  fail(error: unknown): void {
    this.#running.fail(error);
  }
}

function assertCounts(usage: EngineUsage): void {
  const { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens } = usage;
  if (isCount(prompt_tokens) && isCount(cached_tokens) && isCount(completion_tokens) && isCount(reasoning_tokens))
    return;
  throw new EngineError("protocol", "the engine has lost count");
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0;
