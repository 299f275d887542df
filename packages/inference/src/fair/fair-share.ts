/** With more counters than this, those of all idle keys are checked at every end of a request. */
const tidyAbove = 1000;

/** A key with the share that is due to it: one of weight 2 gets twice as many tokens as one of weight 1. */
export interface WeightedKey {
  readonly keyId: string;
  readonly weight: number;
}

/**
 * Who has been served how much: tokens divided by the weight of the key. The key that has been served least is next. A key that
 * comes back after a pause begins where the others are, so that idleness earns nothing, and an idle key's share goes to the
 * others.
 *
 * These are the virtual counters of Sheng et al., "Fairness in Serving Large Language Models" (OSDI 2024), with the virtual time of
 * start-time fair queueing as the level at which a key comes back.
 */
export class FairShare {
  /** The counter of the key that had the last turn, as it was then. */
  #level = 0;
  readonly #counters = new Map<string, number>();
  /** Requests of each key that wait or run. */
  readonly #present = new Map<string, number>();

  /** A request of the key waits from now on. */
  enter(keyId: string): void {
    this.#present.set(keyId, (this.#present.get(keyId) ?? 0) + 1);
    this.#counters.set(keyId, Math.max(this.servedTo(keyId), this.#level));
  }

  /** What the key has been served, divided by its weight. The waiting key with the lowest number is next. */
  servedTo(keyId: string): number {
    return this.#counters.get(keyId) ?? 0;
  }

  /** It is the key's turn. */
  beginTurn(keyId: string): void {
    this.#level = Math.max(this.#level, this.servedTo(keyId));
  }

  /** @param tokens negative when less was used than was charged before */
  charge({ keyId, weight }: WeightedKey, tokens: number): void {
    this.#counters.set(keyId, this.servedTo(keyId) + tokens / weight);
  }

  /** A request of the key has ended. */
  leave(keyId: string): void {
    const present = (this.#present.get(keyId) ?? 0) - 1;
    if (present > 0) return void this.#present.set(keyId, present);
    this.#present.delete(keyId);
    // When no request waits or runs, all keys start equal again.
    if (this.#present.size === 0) this.#counters.clear();
    else if (this.#counters.size > tidyAbove) for (const idle of this.#counters.keys()) this.#forget(idle);
    else this.#forget(keyId);
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#counters.size;
  }

  /** A counter below the level need not be kept: its key would start at the level anyway. */
  #forget(keyId: string): void {
    if (!this.#present.has(keyId) && this.servedTo(keyId) <= this.#level) this.#counters.delete(keyId);
  }
}
