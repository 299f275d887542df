import type {
  LimitedKey,
  LimitLease,
  LimitRefusal,
  LimitStates,
  LimitStore,
  PerMinute,
} from "../accounts/limits/limit-store.ts";
import type { ServerRegister } from "../accounts/servers/server-register.ts";
import { MemoryLimitStore } from "./memory-limit-store.ts";
import type { SharedLimitStore } from "./shared-limit-store.ts";
import { StateError } from "./state-error.ts";

/** A server that is back waits for this time, in which the others come back and write what they have granted. */
const returnMs = 2000;
/** Milliseconds between two looks at the shared store. */
const lookMs = 250;
/** All servers know a server that entered the register this long ago. It is more than `staleMs`. */
const knownMs = 20_000;
/** A number of servers that was read longer ago is not used. */
const staleMs = 15_000;

interface Parts {
  readonly shared: SharedLimitStore;
  readonly overall: PerMinute;
  /** Returns the number of live servers, or undefined if it is not certain. */
  readonly servers: () => number | undefined;
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  /** Receives a sentence for the operator when the limits are divided, and when they are shared again. */
  readonly tell: (line: string) => void;
}

/**
 * Limits that are divided among the live servers while their shared store is away. Each server grants its part, rounded down,
 * from its own memory. A part refills evenly and is empty at first, because the others may have used the whole limit just before.
 * So in any time, all parts together grant no more than a shared bucket would have refilled in it.
 *
 * When the store is back, the server keeps to its part until it has written what it granted, and 2 s longer, in which the other
 * servers write theirs. Then the buckets of the store contain what all granted: they may have a debt. Requests that still run
 * are written when they end. A server that stays cut off while others are back grants its part in addition until then.
 *
 * Requests at the same time are divided, too: a server counts those that it has running, also from before.
 */
export class DividedLimitStore implements LimitStore, Disposable {
  readonly #parts: Parts;
  /** The part of this server; undefined while the shared store decides. */
  #own: MemoryLimitStore | undefined;
  #backMs: number | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Returns true while this server grants its part of the limits. */
  isDivided(): boolean {
    return this.#look() !== undefined && this.#parts.servers() !== undefined;
  }

  /** Returns false while neither the shared store nor this server can decide. */
  isReachable(): boolean {
    return this.#look() === undefined || this.#parts.servers() !== undefined;
  }

  async states(key: LimitedKey): Promise<LimitStates> {
    const own = this.#look();
    if (own) return own.states(this.#partOf(key, own));
    return this.#parts.shared.states(key).catch((error: unknown) => {
      const own = this.#look();
      if (!own) throw error;
      return own.states(this.#partOf(key, own));
    });
  }

  async take(key: LimitedKey): Promise<LimitLease | LimitRefusal> {
    const own = this.#look();
    if (own) return this.#takeOwn(key, own);
    return this.#parts.shared.take(key).catch((error: unknown) => {
      const own = this.#look();
      if (!own) throw error;
      return this.#takeOwn(key, own);
    });
  }

  async #takeOwn(key: LimitedKey, own: MemoryLimitStore): Promise<LimitLease | LimitRefusal> {
    const { shared, overall } = this.#parts;
    const part = this.#partOf(key, own);
    const { concurrency: bound } = part;
    if (bound !== undefined && shared.runningOf(key.keyId) >= bound) return { limit: "concurrency", bound, waitMs: 0 };
    const taken = await own.take({ ...part, concurrency: undefined });
    if (!("commit" in taken)) return taken;
    const held = shared.hold(key);
    return {
      ...taken,
      takeTokens: async (wanted) => {
        const refusal = await taken.takeTokens(wanted);
        const isPossible = wanted <= Math.min(key.perMinute.tokens, overall.tokens);
        if (refusal?.waitMs === Number.POSITIVE_INFINITY && isPossible) throw tooSmall();
        return refusal;
      },
      commit: async (usedTokens) => {
        await taken.commit(usedTokens);
        await held.commit(usedTokens);
      },
      rollback: async () => {
        await taken.rollback();
        await held.rollback();
      },
    };
  }

  /** Returns the part of this server while the shared store is away or has just come back. */
  #look(): MemoryLimitStore | undefined {
    const { shared, overall, nowMs, tell } = this.#parts;
    if (!shared.isReachable()) {
      this.#backMs = undefined;
      if (!this.#own) tell("the shared limits cannot be reached: each server grants its part of them");
      this.#own ??= new MemoryLimitStore(overall, nowMs, "empty");
    } else if (this.#own) {
      this.#backMs ??= nowMs();
      if (nowMs() - this.#backMs < returnMs || shared.hasUnended()) return this.#own;
      tell("the limits are shared again");
      this.#own = undefined;
    }
    return this.#own;
  }

  /** @throws {StateError} if the number of servers is not certain, or a part is less than one request or token */
  #partOf({ keyId, perMinute, concurrency }: LimitedKey, own: MemoryLimitStore): LimitedKey {
    const servers = this.#parts.servers();
    if (servers === undefined || servers === 0) throw new StateError("The number of servers is not known.");
    const partOf = (limit: number): number => Math.floor(limit / servers);
    const divide = ({ requests, tokens }: PerMinute): PerMinute => {
      const part = { requests: partOf(requests), tokens: partOf(tokens) };
      if (part.requests === 0 || part.tokens === 0) throw tooSmall();
      return part;
    };
    const bound = concurrency === undefined ? undefined : partOf(concurrency);
    if (bound === 0) throw tooSmall();
    const part = { keyId, perMinute: divide(perMinute), concurrency: bound };
    own.resize(divide(this.#parts.overall));
    return part;
  }
}

const tooSmall = (): StateError => new StateError("This server's part of a limit is too small for the request.");

/** Returns a function that returns the number of live servers; undefined if this or another server may not know all. */
export function countServers(register: ServerRegister, nowMs: () => number): () => number | undefined {
  let enteredMs: number | undefined;
  let readMs = -Infinity;
  register.onRead(() => {
    readMs = nowMs();
    if (register.live.some(({ id }) => id === register.ownId)) enteredMs ??= readMs;
    else enteredMs = undefined;
  });
  return () => {
    const isCertain = enteredMs !== undefined && nowMs() - enteredMs >= knownMs && nowMs() - readMs < staleMs;
    return isCertain ? register.live.length : undefined;
  };
}
