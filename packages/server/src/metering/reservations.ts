import { Big } from "big.js";
import type { Caller } from "../auth/caller.ts";
import { monthOf } from "./month.ts";
import { priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** The maximum usage of a request. */
export interface LargestUse {
  readonly pricing: Pricing;
  readonly promptTokens: number;
  readonly n: number;
  /** Maximum number of completion tokens of each choice. */
  readonly maxTokens: number;
  /** True if the caller set `maxTokens`. A default is lowered to the number that the rest of the budget pays for. */
  readonly isMaximumNamed: boolean;
}

/** Money that is held for one request. It ends once: the first call of `settle` or `cancel` counts. */
export interface Reservation {
  /** Number of completion tokens of each choice that the held money pays for. */
  readonly maxTokens: number;
  /** The request has ended. Its cost is held until `recorded` resolves. */
  settle(costUsd: string, recorded: Promise<void>): void;
  /** The request did not run. Releases the money. */
  cancel(): void;
}

/** The amounts that explain why nothing was held. */
export interface Shortfall {
  /** The maximum cost of the request, in US dollars. With a default `maxTokens`, that of one token for each choice. */
  readonly neededUsd: string;
  /** The budget minus the cost of closed requests and the money held for running ones; at least 0. */
  readonly remainingUsd: string;
  /** The money held for running requests of the key. */
  readonly heldUsd: string;
}

/** The money held for a key with a budget. An account exists while a request of the key is checked or runs. */
interface Account {
  held: Big;
  /** Number of times that money was released. */
  returns: number;
  /** Number of requests that are being checked or hold money. */
  users: number;
  /** Resolves when the last check in line has ended. */
  turn: Promise<unknown>;
}

/**
 * Holds the maximum cost of each running request against its key's budgets, so a key never spends more than its budget. The
 * state is in memory, so only one server may write to the ledger.
 */
export class Reservations {
  readonly #ledger: Pick<UsageLedger, "spentUsd">;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<string, Account>();

  constructor(ledger: Pick<UsageLedger, "spentUsd">, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /** The US dollars that are held now, for all keys. */
  get totalUsd(): number {
    return [...this.#accounts.values()].reduce((sum, { held }) => sum.plus(held), new Big(0)).toNumber();
  }

  /** Holds the maximum cost of a request, or nothing. A key without a budget is never refused. */
  async reserve(caller: Caller, use: LargestUse): Promise<Reservation | Shortfall> {
    if (caller.budgetUsd === undefined && caller.monthlyBudgetUsd === undefined) return unbounded(use.maxTokens);
    const account = this.#accountOf(caller.keyId);
    account.users += 1;
    // Checks of one key run one at a time. Two that read the ledger together would both count the same money.
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
      // Read before the ledger: a request that ends in between is then counted twice, not left out.
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

  /**
   * Returns the rest of the tighter budget after the cost of closed requests; negative if they cost more than the budget.
   */
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

  /** Deletes the account after its last user. */
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
  priceOf({ promptTokens, completionTokens: n * maxTokens }, pricing);

/**
 * Returns the number of completion tokens of each choice that the rest of the budget pays for; 0 if it cannot pay for the
 * request.
 */
function affordableTokens(use: LargestUse, rest: Big): number {
  const left = rest.minus(largestPrice({ ...use, maxTokens: 0 }));
  if (left.lt(0)) return 0;
  const perToken = new Big(use.pricing.completion).times(use.n);
  // The remainder is subtracted first, because a division with a remainder would be rounded.
  const paid = perToken.eq(0) ? use.maxTokens : left.minus(left.mod(perToken)).div(perToken).toNumber();
  return use.isMaximumNamed && paid < use.maxTokens ? 0 : Math.min(paid, use.maxTokens);
}
