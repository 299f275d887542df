import { Big } from "big.js";
import type { Caller } from "../keys/caller.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { BudgetShortage, KeyBudgets, UsageLedger } from "../ledger/usage-ledger.ts";
import { monthOf, startOfNextMonth } from "./month.ts";
import { isAtLeastUsd, priceOf } from "./price.ts";
import type { Pricing } from "./price.ts";

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

/** The maximum cost of a request in exact decimals: `fixedUsd` plus `perTokenUsd` for each of `maxTokens`. */
export interface CostBound extends Pick<LargestUse, "maxTokens" | "isMaximumNamed"> {
  /** US dollars for the prompt and for the request itself. */
  readonly fixedUsd: string;
  /** US dollars for one completion token of every choice. */
  readonly perTokenUsd: string;
}

export function costBoundOf({ pricing, promptTokens, n, maxTokens, isMaximumNamed }: LargestUse): CostBound {
  // No token is known to be cached yet, and a cached one never costs more than another.
  const fixedUsd = priceOf({ promptTokens, cachedTokens: 0, completionTokens: 0 }, pricing);
  return { fixedUsd, perTokenUsd: new Big(pricing.completion).times(n).toFixed(), maxTokens, isMaximumNamed };
}

/** Returns the budgets of a key, or undefined if it has none: such a key is never refused. */
export const budgetsOf = ({ budgetUsd, monthlyBudgetUsd }: Caller): KeyBudgets | undefined =>
  budgetUsd === undefined && monthlyBudgetUsd === undefined ? undefined : { budgetUsd, monthlyBudgetUsd };

/** Returns the maximum cost with `maxTokens` completion tokens of each choice, in US dollars. */
export const costOf = ({ fixedUsd, perTokenUsd }: CostBound, maxTokens: number): Big =>
  new Big(perTokenUsd).times(maxTokens).plus(fixedUsd);

/**
 * Returns the number of completion tokens of each choice that an amount pays for; 0 if it cannot pay for the request.
 * @param rest US dollars; may be negative
 */
export function affordableTokens(bound: CostBound, rest: Big): number {
  const { maxTokens, isMaximumNamed } = bound;
  const left = rest.minus(bound.fixedUsd);
  if (left.lt(0)) return 0;
  const perToken = new Big(bound.perTokenUsd);
  // The remainder is subtracted first, because a division with a remainder would be rounded.
  const paid = perToken.eq(0) ? maxTokens : left.minus(left.mod(perToken)).div(perToken).toNumber();
  return isMaximumNamed && paid < maxTokens ? 0 : Math.min(paid, maxTokens);
}

/**
 * Checks the total budget first, because it does not renew, then that of the month.
 * @throws {ApiError} 402 `insufficient_quota` if closed requests have used up a budget of the key
 */
export async function assertUnspent(
  { keyId, budgetUsd, monthlyBudgetUsd }: Caller,
  ledger: Pick<UsageLedger, "spentUsd">,
  nowMs: number,
): Promise<void> {
  const ifSpent = async (budget: string | undefined, month?: string): Promise<string | undefined> =>
    budget !== undefined && isAtLeastUsd(await ledger.spentUsd(keyId, month), budget) ? budget : undefined;
  const [total, monthly] = await Promise.all([ifSpent(budgetUsd), ifSpent(monthlyBudgetUsd, monthOf(nowMs))]);
  if (total !== undefined) throw budgetSpent(total);
  if (monthly !== undefined) throw monthSpent(monthly, startOfNextMonth(nowMs));
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

/** Returns 402 `insufficient_quota` with the maximum cost; with a default `maxTokens`, that of one token for each choice. */
export function tooExpensive(bound: CostBound, { restUsd, heldUsd }: BudgetShortage): ApiError {
  const neededUsd = costOf(bound, bound.isMaximumNamed ? bound.maxTokens : 1).toFixed();
  const remainingUsd = restUsd.startsWith("-") ? "0" : restUsd;
  const holding =
    heldUsd === "0" ? "" : ` Running requests hold ${heldUsd}; what they do not use comes back when they end.`;
  const message = `This request may cost ${neededUsd} US dollars, and ${remainingUsd} of the key's budget is left.${holding} Lower max_completion_tokens, send a shorter prompt, or ask the operator for a larger budget.`;
  return new ApiError("insufficient_quota", message, {
    details: { needed_usd: neededUsd, remaining_usd: remainingUsd },
  });
}
