import { Big } from "big.js";
import type { Caller } from "../keys/caller.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { Lease } from "../lease.ts";
import { monthOf, startOfNextMonth } from "./month.ts";
import { isAtLeastUsd, priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";
import type { UsageLedger } from "../ledger/usage-ledger.ts";

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

/** Money that is held for one request, against the budgets of its key. */
export interface MoneyLease extends Lease<{ readonly costUsd: string }> {
  /** Number of completion tokens of each choice that the held money pays for. */
  readonly maxTokens: number;
  commit(used: { readonly costUsd: string }): void;
  rollback(): void;
}

/** The amount that is held for a request, and the completion tokens of each choice that it pays for. */
interface HeldUse {
  readonly maxTokens: number;
  readonly amount: Big;
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
 * The budgets of all keys. Holds the maximum cost of each running request, so a key never spends more than its budget. The
 * state is in memory, so only one server may write to the ledger.
 */
export class Budgets {
  readonly #ledger: Pick<UsageLedger, "spentUsd">;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<string, Account>();

  constructor(ledger: Pick<UsageLedger, "spentUsd">, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /** The US dollars that are held now, for all keys. */
  get heldUsd(): number {
    return [...this.#accounts.values()].reduce((sum, { held }) => sum.plus(held), new Big(0)).toNumber();
  }

  /**
   * Checks the total budget first, because it does not renew, then that of the month.
   * @throws {ApiError} 402 `insufficient_quota` if closed requests have used up a budget of the key
   */
  async assertUnspent({ keyId, budgetUsd, monthlyBudgetUsd }: Caller): Promise<void> {
    const nowMs = this.#nowMs();
    if (budgetUsd !== undefined && isAtLeastUsd(await this.#ledger.spentUsd(keyId), budgetUsd))
      throw budgetSpent(budgetUsd);
    if (monthlyBudgetUsd === undefined) return;
    if (isAtLeastUsd(await this.#ledger.spentUsd(keyId, monthOf(nowMs)), monthlyBudgetUsd))
      throw monthSpent(monthlyBudgetUsd, startOfNextMonth(nowMs));
  }

  /**
   * Holds the maximum cost of a request, or nothing. A key without a budget is never refused.
   * @param recorded resolves when the ledger has the cost of the ended request; a commit holds the cost until then
   * @throws {ApiError} 402 `insufficient_quota` if the rest of the budget does not pay for the request
   */
  async hold(caller: Caller, use: LargestUse, recorded: Promise<void>): Promise<MoneyLease> {
    if (caller.budgetUsd === undefined && caller.monthlyBudgetUsd === undefined) return unbounded(use.maxTokens);
    const account = this.#accountOf(caller.keyId);
    account.users += 1;
    // Checks of one key run one at a time. Two that read the ledger together would both count the same money.
    const turn = account.turn.then(() => this.#take(caller, use, account));
    account.turn = turn.catch(() => undefined);
    try {
      return this.#lease(caller.keyId, account, await turn, recorded);
    } catch (error) {
      this.#leave(caller.keyId, account);
      throw error;
    }
  }

  async #take(caller: Caller, use: LargestUse, account: Account): Promise<HeldUse> {
    for (;;) {
      // Read before the ledger: a request that ends in between is then counted twice, not left out.
      const { held, returns } = account;
      const rest = (await this.#unspent(caller)).minus(held);
      const maxTokens = affordableTokens(use, rest);
      if (maxTokens > 0) {
        const amount = new Big(largestPrice({ ...use, maxTokens }));
        account.held = account.held.plus(amount);
        return { maxTokens, amount };
      }
      if (returns !== account.returns) continue;
      const needed = { ...use, maxTokens: use.isMaximumNamed ? use.maxTokens : 1 };
      throw tooExpensive(largestPrice(needed), rest.gt(0) ? rest : new Big(0), held);
    }
  }

  #lease(keyId: string, account: Account, { maxTokens, amount }: HeldUse, recorded: Promise<void>): MoneyLease {
    const replace = (before: Big, after: Big): void => {
      account.held = account.held.minus(before).plus(after);
      account.returns += 1;
    };
    const release = (rest: Big): void => {
      replace(rest, new Big(0));
      this.#leave(keyId, account);
    };
    return {
      maxTokens,
      commit: ({ costUsd }) => {
        const cost = new Big(costUsd);
        replace(amount, cost);
        void recorded.then(() => release(cost));
      },
      rollback: () => release(amount),
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

const unbounded = (maxTokens: number): MoneyLease => ({
  maxTokens,
  commit: () => undefined,
  rollback: () => undefined,
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

const budgetSpent = (budgetUsd: string): ApiError =>
  new ApiError(
    "insufficient_quota",
    `The budget of this key, ${budgetUsd} US dollars, is spent. Ask the operator for a larger one.`,
  );

function monthSpent(budgetUsd: string, renewsMs: number): ApiError {
  const day = new Date(renewsMs).toISOString().slice(0, 10);
  return new ApiError(
    "insufficient_quota",
    `The monthly budget of this key, ${budgetUsd} US dollars, is spent. It starts again on ${day} (UTC), or ask the operator for a larger one.`,
  );
}

/**
 * @param neededUsd the maximum cost of the request; with a default `maxTokens`, that of one token for each choice
 * @param rest the budget minus the cost of closed requests and the money held for running ones
 */
function tooExpensive(neededUsd: string, rest: Big, held: Big): ApiError {
  const remainingUsd = rest.toFixed();
  const holding = held.eq(0)
    ? ""
    : ` Running requests hold ${held.toFixed()}; what they do not use comes back when they end.`;
  const message = `This request may cost ${neededUsd} US dollars, and ${remainingUsd} of the key's budget is left.${holding} Lower max_completionTokens, send a shorter prompt, or ask the operator for a larger budget.`;
  return new ApiError("insufficient_quota", message, {
    details: { needed_usd: neededUsd, remaining_usd: remainingUsd },
  });
}
