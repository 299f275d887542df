import type { LimitedKey, LimitLease, LimitRefusal, LimitStates, LimitStore } from "../accounts/limits/limit-store.ts";

/** A lease as the worker sees it. */
interface Taken {
  readonly tokenLimit: number;
  readonly states: LimitStates;
}

/** The limits as one worker takes them. It numbers its leases, so they can be given back when it dies. */
export class HeldLimits {
  readonly #store: LimitStore;
  readonly #leases = new Map<number, LimitLease>();
  #isOver = false;

  constructor(store: LimitStore) {
    this.#store = store;
  }

  states(key: LimitedKey): Promise<LimitStates> {
    return this.#store.states(key);
  }

  async take(id: number, key: LimitedKey): Promise<Taken | LimitRefusal> {
    const taken = await this.#store.take(key);
    if (!("commit" in taken)) return taken;
    if (this.#isOver) await taken.rollback();
    else this.#leases.set(id, taken);
    return { tokenLimit: taken.tokenLimit, states: taken.states() };
  }

  async takeTokens(id: number, tokens: number): Promise<{ refusal: LimitRefusal | undefined; states: LimitStates }> {
    const lease = this.#leases.get(id);
    if (!lease) throw new Error(`the worker has no lease ${id}`);
    return { refusal: await lease.takeTokens(tokens), states: lease.states() };
  }

  async commit(id: number, usedTokens: number): Promise<void> {
    await this.#remove(id)?.commit(usedTokens);
  }

  async rollback(id: number): Promise<void> {
    await this.#remove(id)?.rollback();
  }

  /** Gives everything back that the dead worker had taken. */
  async release(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#leases.keys(), (id) => this.rollback(id)));
  }

  #remove(id: number): LimitLease | undefined {
    const lease = this.#leases.get(id);
    this.#leases.delete(id);
    return lease;
  }
}
