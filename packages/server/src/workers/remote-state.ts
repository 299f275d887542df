import type { LimitLease, LimitStore } from "../accounts/limits/limit-store.ts";
import type { SlotLease, SlotQueue, SlotRequest } from "../models/model-queue.ts";
import type { Remote } from "./call-channel.ts";
import type { HeldLimits } from "./held-limits.ts";
import type { HeldSlots } from "./held-slots.ts";

type LimitCalls = Remote<HeldLimits, "states" | "take" | "takeTokens" | "commit" | "rollback">;

/** Returns the limits of the parent, as its worker uses them. */
export function remoteLimits(calls: LimitCalls): LimitStore {
  let lastId = 0;
  return {
    states: (key) => calls.states(key),
    take: async (key) => {
      const id = (lastId += 1);
      const taken = await calls.take(id, key);
      return "limit" in taken ? taken : leaseOf(calls, id, taken);
    },
  };
}

/** Like every lease, it never rejects at its end: a parent that is gone has ended it. */
function leaseOf(
  calls: LimitCalls,
  id: number,
  { tokenLimit, states: taken }: { readonly tokenLimit: number; readonly states: ReturnType<LimitLease["states"]> },
): LimitLease {
  let states = taken;
  return {
    tokenLimit,
    states: () => states,
    takeTokens: async (tokens) => {
      const answer = await calls.takeTokens(id, tokens);
      states = answer.states;
      return answer.refusal;
    },
    commit: (usedTokens) => calls.commit(id, usedTokens).catch(() => undefined),
    rollback: () => calls.rollback(id).catch(() => undefined),
  };
}

type SlotCalls = Remote<HeldSlots, "enter" | "leave" | "count" | "endChoice" | "commit">;

/** Milliseconds between two messages with the numbers of generated tokens. */
const countEveryMs = 100;

/** The queues of the parent, as its worker uses them. */
export class RemoteSlots implements Disposable {
  readonly #calls: SlotCalls;
  /** The numbers of generated tokens that the parent does not know yet. */
  readonly #counts = new Map<number, number>();
  readonly #timer = setInterval(() => this.#sendCounts(), countEveryMs).unref();
  #lastId = 0;

  constructor(calls: SlotCalls) {
    this.#calls = calls;
  }

  queueOf(model: string): SlotQueue {
    return { enter: (request, signal) => this.#enter(model, request, signal) };
  }

  async #enter(model: string, request: SlotRequest, signal: AbortSignal): Promise<SlotLease> {
    signal.throwIfAborted();
    const id = (this.#lastId += 1);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => {
      this.#tell(this.#calls.leave(id));
      aborted.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([this.#calls.enter(id, model, request), aborted.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    return this.#leaseOf(id);
  }

  #leaseOf(id: number): SlotLease {
    return {
      count: (completionTokens) => void this.#counts.set(id, completionTokens),
      endChoice: () => this.#tell(this.#calls.endChoice(id)),
      commit: ({ usage }) => {
        this.#counts.delete(id);
        this.#tell(this.#calls.commit(id, usage.completionTokens));
      },
      rollback: () => {
        this.#counts.delete(id);
        this.#tell(this.#calls.leave(id));
      },
    };
  }

  #sendCounts(): void {
    if (this.#counts.size === 0) return;
    this.#tell(this.#calls.count([...this.#counts]));
    this.#counts.clear();
  }

  /** A parent that is gone has freed the slots. */
  #tell(answer: Promise<void>): void {
    answer.catch(() => undefined);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
