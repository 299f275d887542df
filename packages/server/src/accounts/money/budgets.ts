import { Big } from "big.js";
import type { Caller, CallerGroup } from "../keys/caller.ts";
import type { GroupBudget, KeyBudgets } from "../ledger/usage-ledger.ts";
import { always, periodAt } from "./period.ts";
import type { Span } from "./period.ts";
import { priceOf } from "./price.ts";
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

/**
 * Returns the budgets that a request of a key uses, or undefined if there are none: such a request is never refused.
 * @param startedMs the start of the request, which decides the period of each group
 */
export function budgetsOf(caller: Caller, startedMs: number): KeyBudgets | undefined {
  const { budgetUsd, monthlyBudgetUsd, budgetRaise } = caller;
  const groups = groupBudgetsOf(caller, startedMs);
  if ([budgetUsd, monthlyBudgetUsd, ...groups.map((group) => group.budgetUsd)].every((usd) => usd === undefined))
    return undefined;
  return { budgetUsd, monthlyBudgetUsd, budgetRaise, ...(groups.length > 0 && { groups }) };
}

/** Returns the budgets of a key's groups, with the periods that contain a time. */
export const groupBudgetsOf = ({ groups }: Pick<Caller, "groups">, ms: number): GroupBudget[] =>
  groups.map((group) => ({ ...group, ...spanOf(group, ms) }));

/** Returns the span of a group's budget that contains a time: one of its periods, or all time. */
export const spanOf = ({ period, timeZone }: Pick<CallerGroup, "period" | "timeZone">, ms: number): Span =>
  period === undefined || timeZone === undefined ? always : periodAt(ms, period, timeZone);

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
