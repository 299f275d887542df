const windowMs = 30_000;
/** The most turns that are remembered. */
const mostTurns = 1000;
const bounds = { least: 1000, most: 60_000 };

/** How fast a queue gets shorter, by the turns of the last 30 seconds. */
export class DrainRate {
  readonly #nowMs: () => number;
  readonly #turns: number[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A request had its turn. */
  noteTurn(): void {
    this.#turns.push(this.#nowMs());
    if (this.#turns.length > mostTurns) this.#turns.shift();
  }

  /** Milliseconds until so many requests will have had their turn, from 1 to 60 seconds. */
  waitMs(requests: number): number {
    const now = this.#nowMs();
    const recent = this.#turns.filter((turn) => now - turn < windowMs);
    const [first] = recent;
    if (first === undefined) return bounds.most;
    const msPerTurn = (now - first) / recent.length;
    return Math.min(bounds.most, Math.max(bounds.least, Math.ceil(requests * msPerTurn)));
  }
}
