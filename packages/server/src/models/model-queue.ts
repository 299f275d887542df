import { FairShare } from "@parley/common/fair-share";
import type { WeightedKey } from "@parley/common/fair-share";
import type { EngineUsage } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import type { Lease } from "../accounts/lease.ts";
import { DrainRate } from "./drain-rate.ts";

/** A request that asks for slots. */
export interface SlotRequest extends WeightedKey {
  /** Number of choices, each of which takes a slot. */
  readonly choices: number;
  readonly promptTokens: number;
  /** Completion tokens reserved for all choices together. */
  readonly completionTokens: number;
}

/** The usage by which the end of a request is charged to its key. */
interface GeneratedUsage {
  readonly usage: Pick<EngineUsage, "completionTokens">;
}

/** The slots of a running request. */
export interface SlotLease extends Lease<GeneratedUsage> {
  /**
   * Sets the number of completion tokens generated so far, of all choices together. Cheap enough to be called for every
   * token.
   */
  count(completionTokens: number): void;
  /** Frees the slot of an ended choice, unless a choice of the same request still waits for one. */
  endChoice(): void;
  commit(used: GeneratedUsage): void;
  rollback(): void;
}

/** A queue for the slots of a model. */
export interface SlotQueue {
  /**
   * Waits until the request has its slots.
   * @throws {ApiError} 429 `capacity_exhausted`; the signal's reason when it aborts first
   */
  enter(request: SlotRequest, signal: AbortSignal): Promise<SlotLease>;
}

/**
 * The number of choices that an engine can generate at the same time for this server. It may change when the engine
 * restarts, or when a server comes or goes that uses the engine, too.
 */
export interface EngineSlots {
  readonly slots: number;
  /** Additional slots, for keys without a running request. */
  readonly spareSlots?: number | undefined;
}

export interface QueueBounds {
  /** Maximum number of waiting requests. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** A running request, and the tokens that its key was charged for it. */
interface Running {
  readonly request: SlotRequest;
  slots: number;
  /** Number of choices that have not ended. */
  choices: number;
  /** True if it uses a spare slot. */
  readonly isLent: boolean;
  chargedTokens: number;
  generatedTokens: number;
}

interface Waiter {
  readonly request: SlotRequest;
  readonly admit: (isLent?: boolean) => void;
  readonly giveUp: (reason: unknown) => void;
}

/** Cost of a completion token in prompt tokens. It costs more, because each needs its own decoding step. */
const promptTokensPerCompletionToken = 2;

/**
 * The bounded queue of one model. The key that has been served least is next; requests of one key keep their order. A
 * request takes one slot per choice at once. If it has more choices than there are slots, it takes all slots, and its
 * choices take turns. A slot is free again when no choice of the request needs it. If all slots are taken, a spare slot is
 * lent to a key that has no running request, for a request with one choice. If the queue is full, a new request is refused,
 * unless another key has more waiting requests: then that key's last one is refused instead. A request that waits longer
 * than the maximum is refused, too.
 */
export class ModelQueue implements SlotQueue {
  readonly #bounds: () => QueueBounds;
  readonly #engine: () => EngineSlots;
  readonly #share = new FairShare();
  readonly #drainRate = new DrainRate(() => performance.now());
  readonly #running = new Set<Running>();
  readonly #waiters = new Map<string, readonly Waiter[]>();
  #waiting = 0;
  #taken = 0;
  #lent = 0;

  constructor(bounds: () => QueueBounds, engine: () => EngineSlots) {
    this.#bounds = bounds;
    this.#engine = engine;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Number of slots that may be in use, without spare ones. More are in use for a while after the number was lowered. */
  get slots(): number {
    return this.#engine().slots;
  }

  /** Number of slots in use, including spare ones. */
  get taken(): number {
    return this.#taken + this.#lent;
  }

  async enter(request: SlotRequest, signal: AbortSignal): Promise<SlotLease> {
    signal.throwIfAborted();
    this.#share.enter(request.keyId);
    try {
      const running = this.#takeAtOnce(request) ?? (await this.#wait(request, signal));
      return {
        count: (completionTokens) => void (running.generatedTokens = completionTokens),
        endChoice: () => this.#endChoice(running),
        commit: ({ usage }) => this.#release(running, usage.completionTokens),
        rollback: () => this.#release(running, 0),
      };
    } catch (error) {
      this.#share.leave(request.keyId);
      throw error;
    }
  }

  /** Admits waiting requests. Must be called when the engine has got more slots. */
  admitWaiting(): void {
    this.#admitNext();
  }

  /** Frees slots that no choice needs any more. The last slot stays taken until the request ends. */
  #endChoice(running: Running): void {
    running.choices -= 1;
    const needed = Math.max(1, running.choices);
    if (needed >= running.slots) return;
    this.#taken -= running.slots - needed;
    running.slots = needed;
    this.#admitNext();
  }

  #release(running: Running, completionTokens: number): void {
    this.#running.delete(running);
    if (running.isLent) this.#lent -= 1;
    else this.#taken -= running.slots;
    this.#charge(running, completionTokens);
    this.#share.leave(running.request.keyId);
    this.#admitNext();
  }

  #charge(running: Running, completionTokens: number): void {
    const tokens = promptTokensPerCompletionToken * (completionTokens - running.chargedTokens);
    running.chargedTokens = completionTokens;
    this.#share.charge(running.request, tokens);
  }

  /** Charges the tokens that running requests have generated beyond those reserved for them. */
  #catchUp(): void {
    for (const running of this.#running)
      if (running.generatedTokens > running.chargedTokens) this.#charge(running, running.generatedTokens);
  }

  #slotsFor({ choices }: SlotRequest): number {
    return Math.min(choices, this.#engine().slots);
  }

  #fits(request: SlotRequest): boolean {
    return this.#taken + this.#slotsFor(request) <= this.#engine().slots;
  }

  #canBorrow({ keyId, choices }: SlotRequest): boolean {
    const { spareSlots = 0 } = this.#engine();
    if (choices > 1 || this.#lent >= spareSlots) return false;
    for (const { request } of this.#running) if (request.keyId === keyId) return false;
    return true;
  }

  #takeAtOnce(request: SlotRequest): Running | undefined {
    if (this.#waiting === 0 && this.#fits(request)) return this.#take(request);
    return this.#canBorrow(request) ? this.#take(request, true) : undefined;
  }

  #take(request: SlotRequest, isLent = false): Running {
    this.#drainRate.noteTurn();
    this.#share.beginTurn(request.keyId);
    const { choices } = request;
    const running = { request, slots: this.#slotsFor(request), choices, isLent, chargedTokens: 0, generatedTokens: 0 };
    this.#share.charge(request, request.promptTokens);
    this.#charge(running, request.completionTokens);
    this.#running.add(running);
    if (isLent) this.#lent += 1;
    else this.#taken += running.slots;
    return running;
  }

  #wait(request: SlotRequest, signal: AbortSignal): Promise<Running> {
    const { maxWaiting, maxWaitMs } = this.#bounds();
    if (this.#waiting >= maxWaiting) this.#makeRoom(request.keyId);
    return new Promise<Running>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#remove(waiter);
      };
      const waiter: Waiter = {
        request,
        admit: (isLent) => {
          leave();
          resolve(this.#take(request, isLent));
        },
        giveUp: (reason) => {
          leave();
          reject(reason instanceof Error ? reason : new Error("gave up waiting"));
          this.#admitNext(); // the requests behind it may fit
        },
      };
      const onAbort = (): void => waiter.giveUp(signal.reason);
      const onLate = (): void => waiter.giveUp(this.#exhausted("No slot of this model became free in time."));
      const timer = setTimeout(onLate, maxWaitMs);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.set(request.keyId, [...this.#waitersOf(request.keyId), waiter]);
      this.#waiting += 1;
    });
  }

  #waitersOf(keyId: string): readonly Waiter[] {
    return this.#waiters.get(keyId) ?? [];
  }

  #remove(waiter: Waiter): void {
    const { keyId } = waiter.request;
    const left = this.#waitersOf(keyId).filter((one) => one !== waiter);
    if (left.length === 0) this.#waiters.delete(keyId);
    else this.#waiters.set(keyId, left);
    this.#waiting -= 1;
  }

  /**
   * Makes room by rejecting the newest request of the key with the most waiting requests, if it has more than the
   * newcomer's key.
   * @throws {ApiError} 429 otherwise
   */
  #makeRoom(keyId: string): void {
    const longest = [...this.#waiters.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    if (longest.length <= this.#waitersOf(keyId).length)
      throw this.#exhausted("All slots of this model are taken and its queue is full.");
    const reason = "The queue of this model is full, and another key had fewer requests in it.";
    longest.at(-1)?.giveUp(this.#exhausted(reason));
  }

  #admitNext(): void {
    if (this.#waiting > 0) this.#catchUp();
    for (let next = this.#next(); next && this.#fits(next.request); next = this.#next()) next.admit();
    const borrower = this.#next((request) => this.#canBorrow(request));
    if (borrower) borrower.admit(true);
  }

  /**
   * Returns the first waiting request of the key that has been served least. Keys whose first request fails `may` are
   * skipped.
   */
  #next(may: (request: SlotRequest) => boolean = () => true): Waiter | undefined {
    const firsts = [...this.#waiters.values()].flatMap((waiters) => waiters.slice(0, 1));
    const servedTo = ({ request }: Waiter): number => this.#share.servedTo(request.keyId);
    return firsts
      .filter(({ request }) => may(request))
      .reduce<Waiter | undefined>((a, b) => (a && servedTo(a) <= servedTo(b) ? a : b), undefined);
  }

  #exhausted(what: string): ApiError {
    const options = { retryAfterMs: this.#drainRate.waitMs(this.#waiting) };
    return new ApiError("capacity_exhausted", `${what} Wait as long as retry-after says.`, options);
  }
}
