/** With more counters than this, the end of every request checks which idle keys can be forgotten. */
const tidyAbove = 1000;

/** A key and its share: a key of weight 2 gets twice as many tokens as one of weight 1. */
export interface WeightedKey {
  readonly keyId: string;
  readonly weight: number;
}

/**
 * Counts how much each key has been served: tokens divided by the weight of the key. The key that has been served least is
 * next. A key that returns after a pause starts at the level of the others, so idle time earns no credit. The share of an idle
 * key goes to the others.
 *
 * These are the virtual counters of Sheng et al., "Fairness in Serving Large Language Models" (OSDI 2024), with the virtual
 * time of start-time fair queueing as the level at which a key comes back.
 */
export class FairShare {
  /** The counter of the key that had the last turn, as it was at the beginning of that turn. */
  #level = 0;
  readonly #counters = new Map<string, number>();
  /** The number of waiting and running requests of each key. */
  readonly #present = new Map<string, number>();

  /** Records that a request of the key begins to wait. */
  enter(keyId: string): void {
    this.#present.set(keyId, (this.#present.get(keyId) ?? 0) + 1);
    this.#counters.set(keyId, Math.max(this.servedTo(keyId), this.#level));
  }

  /** Returns the tokens that the key has been served, divided by its weight. The waiting key with the lowest number is next. */
  servedTo(keyId: string): number {
    return this.#counters.get(keyId) ?? 0;
  }

  /** Records that the key gets the next turn. */
  beginTurn(keyId: string): void {
    this.#level = Math.max(this.#level, this.servedTo(keyId));
  }

  /** @param tokens negative to give back tokens that were charged and not used */
  charge({ keyId, weight }: WeightedKey, tokens: number): void {
    this.#counters.set(keyId, this.servedTo(keyId) + tokens / weight);
  }

  /** Records that a request of the key has ended. */
  leave(keyId: string): void {
    const present = (this.#present.get(keyId) ?? 0) - 1;
    if (present > 0) return void this.#present.set(keyId, present);
    this.#present.delete(keyId);
    // When no request waits or runs, all keys become equal again.
    if (this.#present.size === 0) this.#counters.clear();
    else if (this.#counters.size > tidyAbove) for (const idle of this.#counters.keys()) this.#forget(idle);
    else this.#forget(keyId);
  }

  /** The number of remembered keys. */
  get size(): number {
    return this.#counters.size;
  }

  /** A counter below the level can be dropped, because its key would start at the level anyway. */
  #forget(keyId: string): void {
    if (!this.#present.has(keyId) && this.servedTo(keyId) <= this.#level) this.#counters.delete(keyId);
  }
}
