import { Big } from "big.js";
import type { Caller } from "../auth/caller.ts";
import { monthOf } from "./month.ts";
import { priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** The most that a request may use. */
export interface LargestUse {
  readonly pricing: Pricing;
  readonly promptTokens: number;
  readonly n: number;
  /** Completion tokens of each choice. */
  readonly maxTokens: number;
  /** Whether the caller named this maximum. One that nobody named is lowered to what the rest of the budget pays. */
  readonly isMaximumNamed: boolean;
}

/** Money that is held for one request. It ends once: the first of `settle` and `cancel` counts. */
export interface Reservation {
  /** Completion tokens of each choice that it pays for. */
  readonly maxTokens: number;
  /** The request has ended. Its price is held until the ledger has it. */
  settle(costUsd: string, recorded: Promise<void>): void;
  /** The request was not run. */
  cancel(): void;
}

/** Why nothing was held. */
export interface Shortfall {
  /** The most that the request may cost, in US dollars. */
  readonly neededUsd: string;
  /** The budget less what closed requests have cost and running ones may cost. */
  readonly remainingUsd: string;
  /** What running requests of the key may cost. */
  readonly heldUsd: string;
}

/** The held money of a key with a budget. It exists while a request of the key is checked or runs. */
interface Account {
  held: Big;
  /** How often something was given back. */
  returns: number;
  /** Requests that are checked or hold money. */
  users: number;
  /** Resolves when the latest check is over. */
  turn: Promise<unknown>;
}

/**
 * Holds what running requests may cost against the budgets of their keys, so that what is spent never exceeds a budget. It
 * is in the memory of the server that owns the ledger.
 */
export class Reservations {
  readonly #ledger: Pick<UsageLedger, "spentUsd">;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<string, Account>();

  constructor(ledger: Pick<UsageLedger, "spentUsd">, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /** US dollars that are held now, for all keys. */
  get totalUsd(): number {
    return [...this.#accounts.values()].reduce((sum, { held }) => sum.plus(held), new Big(0)).toNumber();
  }

  /** Holds the most that a request may cost, or nothing. A key without a budget pays everything. */
  async reserve(caller: Caller, use: LargestUse): Promise<Reservation | Shortfall> {
    if (caller.budgetUsd === undefined && caller.monthlyBudgetUsd === undefined) return unbounded(use.maxTokens);
    const account = this.#accountOf(caller.keyId);
    account.users += 1;
    // One at a time: two that read the ledger together would both see the same rest.
    const turn = account.turn.then(() => this.#take(caller, use, account));
    account.turn = turn.catch(() => undefined);
    const taken = await turn.catch((error: unknown) => {
      this.#leave(caller.keyId, account);
      throw error;
    });
    if ("neededUsd" in taken) this.#leave(caller.keyId, account);
    return taken;
  }

  async #take(caller: Caller, use: LargestUse, account: Account): Promise<Reservation | Shortfall> {
    for (;;) {
      // Read before the ledger: a request that ends meanwhile is counted twice rather than not at all.
      const { held, returns } = account;
      const rest = (await this.#unspent(caller)).minus(held);
      const maxTokens = affordableTokens(use, rest);
      if (maxTokens > 0) return this.#hold(caller.keyId, account, { ...use, maxTokens });
      if (returns !== account.returns) continue;
      const needed = { ...use, maxTokens: use.isMaximumNamed ? use.maxTokens : 1 };
      const remaining = rest.gt(0) ? rest : new Big(0);
      return { neededUsd: largestPrice(needed), remainingUsd: remaining.toFixed(), heldUsd: held.toFixed() };
    }
  }

  #hold(keyId: string, account: Account, use: LargestUse): Reservation {
    let amount = new Big(largestPrice(use));
    let isOver = false;
    account.held = account.held.plus(amount);
    const holdOnly = (less: Big): void => {
      account.held = account.held.minus(amount).plus(less);
      account.returns += 1;
      amount = less;
    };
    const release = (): void => {
      holdOnly(new Big(0));
      this.#leave(keyId, account);
    };
    const endOnce = (end: () => void): void => {
      if (!isOver) end();
      isOver = true;
    };
    return {
      maxTokens: use.maxTokens,
      settle: (costUsd, recorded) =>
        endOnce(() => {
          holdOnly(new Big(costUsd));
          void recorded.then(release);
        }),
      cancel: () => endOnce(release),
    };
  }

  /** What closed requests have left of the tighter budget; negative when they have cost more. */
  async #unspent({ keyId, budgetUsd, monthlyBudgetUsd }: Caller): Promise<Big> {
    const month = monthOf(this.#nowMs());
    const rests = await Promise.all([
      budgetUsd === undefined ? undefined : this.#rest(budgetUsd, keyId),
      monthlyBudgetUsd === undefined ? undefined : this.#rest(monthlyBudgetUsd, keyId, month),
    ]);
    return rests.filter((rest) => rest !== undefined).reduce((a, b) => (a.lt(b) ? a : b));
  }

  async #rest(budgetUsd: string, keyId: string, month?: string): Promise<Big> {
    return new Big(budgetUsd).minus(await this.#ledger.spentUsd(keyId, month));
  }

  #accountOf(keyId: string): Account {
    const known = this.#accounts.get(keyId);
    if (known) return known;
    const account: Account = { held: new Big(0), returns: 0, users: 0, turn: Promise.resolve() };
    this.#accounts.set(keyId, account);
    return account;
  }

  /** An account that nobody uses is forgotten. */
  #leave(keyId: string, account: Account): void {
    account.users -= 1;
    if (account.users === 0) this.#accounts.delete(keyId);
  }
}

const unbounded = (maxTokens: number): Reservation => ({
  maxTokens,
  settle: () => undefined,
  cancel: () => undefined,
});

const largestPrice = ({ pricing, promptTokens, n, maxTokens }: LargestUse): string =>
  priceOf({ prompt_tokens: promptTokens, completion_tokens: n * maxTokens }, pricing);

/** Completion tokens of each choice that the rest pays for; 0: it does not pay for the request. */
function affordableTokens(use: LargestUse, rest: Big): number {
  const left = rest.minus(largestPrice({ ...use, maxTokens: 0 }));
  if (left.lt(0)) return 0;
  const perToken = new Big(use.pricing.completion).times(use.n);
  // The remainder first: a quotient that does not end would be rounded.
  const paid = perToken.eq(0) ? use.maxTokens : left.minus(left.mod(perToken)).div(perToken).toNumber();
  return use.isMaximumNamed && paid < use.maxTokens ? 0 : Math.min(paid, use.maxTokens);
}
