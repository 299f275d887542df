import type { SlotLease, SlotQueue, SlotRequest } from "../models/model-queue.ts";

/** The slots of all models as one worker takes them. It numbers its requests, so their slots are free when it dies. */
export class HeldSlots {
  readonly #queueOf: (model: string) => SlotQueue | undefined;
  readonly #entering = new Map<number, AbortController>();
  readonly #leases = new Map<number, SlotLease>();

  constructor(queueOf: (model: string) => SlotQueue | undefined) {
    this.#queueOf = queueOf;
  }

  /** @throws {ApiError} 429 `capacity_exhausted` */
  async enter(id: number, model: string, request: SlotRequest): Promise<void> {
    const queue = this.#queueOf(model);
    if (!queue) throw new Error(`there is no model ${model}`);
    const leaving = new AbortController();
    this.#entering.set(id, leaving);
    try {
      const lease = await queue.enter(request, leaving.signal);
      // It may have been admitted in the moment in which it left.
      if (leaving.signal.aborted) lease.rollback();
      else this.#leases.set(id, lease);
    } finally {
      this.#entering.delete(id);
    }
  }

  /** Ends a request that waits, or was not served. */
  leave(id: number): void {
    this.#entering.get(id)?.abort(new Error("the request has left the queue"));
    this.#leases.get(id)?.rollback();
    this.#leases.delete(id);
  }

  /** Sets the numbers of completion tokens that requests have generated so far. */
  count(counts: readonly (readonly [id: number, completionTokens: number])[]): void {
    for (const [id, completionTokens] of counts) this.#leases.get(id)?.count(completionTokens);
  }

  endChoice(id: number): void {
    this.#leases.get(id)?.endChoice();
  }

  commit(id: number, completionTokens: number): void {
    this.#leases.get(id)?.commit({ usage: { completionTokens } });
    this.#leases.delete(id);
  }

  /** Frees everything that the dead worker had, and ends its waiting requests. */
  release(): void {
    for (const id of [...this.#entering.keys(), ...this.#leases.keys()]) this.leave(id);
  }
}
