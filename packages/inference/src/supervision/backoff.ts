import type { Supervised } from "./supervised.ts";

/**
 * Bounds of a backoff with full jitter: a random time below an exponentially growing bound, so that many processes do not
 * restart at the same time.
 */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Returns the milliseconds to wait before restart number `attempt` in a row, counted from 0. @param random 0 to below 1 */
export function backoffMs(attempt: number, bounds: BackoffBounds, random: () => number): number {
  return Math.floor(random() * Math.min(bounds.maxMs, bounds.firstMs * 2 ** attempt));
}

/** A process that could not be started for lack of descriptors or memory is retried as if it had crashed this often. */
const crashesOfShortage = 3;

/** Counts an engine's crashes in a row, and computes the wait after each. */
export class CrashCount {
  readonly #target: Pick<Supervised, "timings" | "random">;
  #readySince: number | undefined;
  #inARow = 0;
  /** True if the process that crashed last had been ready. */
  #wasReady = false;

  constructor(target: Pick<Supervised, "timings" | "random">) {
    this.#target = target;
  }

  noteReady(): void {
    this.#readySince ??= performance.now();
  }

  /** @returns true if an engine that was never ready has crashed too often to be tried again */
  noteCrash(): boolean {
    const { healthyResetMs, failAfterCrashes } = this.#target.timings;
    const wasHealthyFor = this.#readySince === undefined ? 0 : performance.now() - this.#readySince;
    this.#wasReady = this.#readySince !== undefined;
    this.#readySince = undefined;
    this.#inARow = wasHealthyFor > healthyResetMs ? 1 : this.#inARow + 1;
    return this.#inARow >= failAfterCrashes;
  }

  /** Returns the milliseconds until the next start. After a shortage they do not grow. */
  waitMs(isShortage: boolean): number {
    const { restartFirstMs, maxRestartMs, maxPauseAfterReadyMs } = this.#target.timings;
    const crashes = isShortage ? crashesOfShortage : this.#inARow;
    const maxMs = this.#wasReady ? Math.min(maxRestartMs, maxPauseAfterReadyMs) : maxRestartMs;
    return backoffMs(crashes - 1, { firstMs: restartFirstMs, maxMs }, () => this.#target.random());
  }
}
