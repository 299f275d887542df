import { FairShare } from "@parley/inference";
import type { WeightedKey } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import { DrainRate } from "./drain-rate.ts";

/** A request that asks for slots. */
export interface SlotRequest extends WeightedKey {
  /** Each takes a slot. */
  readonly choices: number;
  readonly promptTokens: number;
  /** Reserved for all choices together. */
  readonly completionTokens: number;
}

/** The slots of a running request. */
export interface TakenSlots {
  /** The completion tokens that were generated so far, in all. It may be called for every token: it only keeps the number. */
  count(completionTokens: number): void;
  /** A choice has ended. Its slot is free, unless a choice of the same request still waits for one. */
  endChoice(): void;
  /** Gives the slots back, to be called once, with the completion tokens that were generated. */
  release(completionTokens: number): void;
}

/** The choices that an engine can generate at the same time. It may change when the engine is started anew. */
export interface EngineSlots {
  readonly slots: number;
  /** Choices beyond `slots`, for keys that have none. */
  readonly spareSlots?: number | undefined;
}

/** A running request, and what its key was charged for it. */
interface Running {
  readonly request: SlotRequest;
  slots: number;
  /** Choices that have not ended. */
  choices: number;
  /** Its slot is a spare one. */
  readonly isLent: boolean;
  chargedTokens: number;
  generatedTokens: number;
}

interface Waiter {
  readonly request: SlotRequest;
  readonly admit: (isLent?: boolean) => void;
  readonly giveUp: (reason: unknown) => void;
}

/** A completion token counts as this many prompt tokens, because each takes a decoding step of its own. */
const promptTokensPerCompletionToken = 2;

/**
 * The bounded queue in front of one model. The key that has been served least is next; among the requests of one key, first
 * come, first served. A request takes a slot for each choice at once, or all slots where it has more choices: those take turns.
 * Each slot is free again when no choice needs it any more.
 * Where all slots are taken, a spare one is lent to a key that has none, for a request of one choice.
 * Who finds the queue full hears it at once, unless another key has more requests in it: that key loses its last one. Who waits
 * too long is told to come back.
 */
export class ModelQueue {
  readonly #maxWaiting: number;
  readonly #maxWaitMs: number;
  readonly #engine: () => EngineSlots;
  readonly #share = new FairShare();
  readonly #drainRate = new DrainRate(() => performance.now());
  readonly #running = new Set<Running>();
  readonly #waiters = new Map<string, readonly Waiter[]>();
  #waiting = 0;
  #taken = 0;
  #lent = 0;

  constructor(bounds: { readonly maxWaiting: number; readonly maxWaitMs: number }, engine: () => EngineSlots) {
    this.#maxWaiting = bounds.maxWaiting;
    this.#maxWaitMs = bounds.maxWaitMs;
    this.#engine = engine;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Slots that are in use, spare ones included. */
  get taken(): number {
    return this.#taken + this.#lent;
  }

  /**
   * Waits until the request has its slots.
   * @throws {ApiError} 429 `capacity_exhausted`; the signal's reason when it aborts first
   */
  async enter(request: SlotRequest, signal: AbortSignal): Promise<TakenSlots> {
    signal.throwIfAborted();
    this.#share.enter(request.keyId);
    try {
      const running = this.#takeAtOnce(request) ?? (await this.#wait(request, signal));
      return {
        count: (completionTokens) => void (running.generatedTokens = completionTokens),
        endChoice: () => this.#endChoice(running),
        release: (completionTokens) => this.#release(running, completionTokens),
      };
    } catch (error) {
      this.#share.leave(request.keyId);
      throw error;
    }
  }

  /** The last slot stays taken until the request has ended. */
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

  /** Charges what running requests have generated beyond what was reserved for them. */
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
    if (this.#waiting >= this.#maxWaiting) this.#makeRoom(request.keyId);
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
          this.#admitNext(); // whoever stood behind may fit
        },
      };
      const onAbort = (): void => waiter.giveUp(signal.reason);
      const onLate = (): void => waiter.giveUp(this.#exhausted("No slot of this model became free in time."));
      const timer = setTimeout(onLate, this.#maxWaitMs);
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

  /** Takes the last place of the key with most requests, if that has more than the newcomer's. @throws {ApiError} 429 */
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

  /** The first request of the key that has been served least, among the first ones that may be taken. */
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
