const windowMs = 30_000;
/** Maximum number of recorded admissions. */
const maxTurns = 1000;
const bounds = { min: 1000, max: 60_000 };

/** Estimates how fast a queue drains, by the admissions of the last 30 seconds. */
export class DrainRate {
  readonly #nowMs: () => number;
  readonly #turns: number[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Records that a request was admitted. */
  noteTurn(): void {
    this.#turns.push(this.#nowMs());
    if (this.#turns.length > maxTurns) this.#turns.shift();
  }

  /** Returns the estimated milliseconds until this number of requests is admitted, from 1 to 60 seconds. */
  waitMs(requests: number): number {
    const now = this.#nowMs();
    const recent = this.#turns.filter((turn) => now - turn < windowMs);
    const [first] = recent;
    if (first === undefined) return bounds.max;
    const msPerTurn = (now - first) / recent.length;
    return Math.min(bounds.max, Math.max(bounds.min, Math.ceil(requests * msPerTurn)));
  }
}
