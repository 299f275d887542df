import { Big } from "big.js";
import type { Caller, CallerGroup } from "../keys/caller.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { ErrorDetails } from "../../errors/api-error.ts";
import type { BudgetShortage, GroupBudget, KeyBudgets, UsageLedger } from "../ledger/usage-ledger.ts";
import type { BudgetRaise } from "./budget-raise.ts";
import { monthOf, startOfNextMonth } from "./month.ts";
import { always, formatIn, periodAt } from "./period.ts";
import type { Span } from "./period.ts";
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

/**
 * Returns the budgets that a request of a key uses, or undefined if there are none: such a request is never refused.
 * @param startedMs the start of the request, which decides the period of each group
 */
export function budgetsOf(caller: Caller, startedMs: number): KeyBudgets | undefined {
  const { budgetUsd, monthlyBudgetUsd } = caller;
  const groups = groupBudgetsOf(caller, startedMs);
  if ([budgetUsd, monthlyBudgetUsd, ...groups.map((group) => group.budgetUsd)].every((usd) => usd === undefined))
    return undefined;
  return { budgetUsd, monthlyBudgetUsd, ...(groups.length > 0 && { groups }) };
}

/** Returns the budgets of a key's groups, with the periods that contain a time. */
export const groupBudgetsOf = ({ groups }: Caller, ms: number): GroupBudget[] =>
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

/** A budget that is used up. */
interface SpentBudget {
  /** Unix milliseconds at which it starts again. */
  readonly renewsMs: number;
  readonly error: ApiError;
}

/**
 * Checks the budgets of a key and of its groups. Of several that are used up, it tells the one that starts again last.
 * @throws {ApiError} 402 `insufficient_quota` if closed requests have used up a budget
 */
export async function assertUnspent(
  caller: Caller,
  ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd">,
  nowMs: number,
): Promise<void> {
  const { keyId, budgetUsd, monthlyBudgetUsd, budgetRaise } = caller;
  const ifSpent = async (
    usd: string | undefined,
    readSpent: () => Promise<string>,
    tell: (usd: string) => SpentBudget,
  ): Promise<SpentBudget[]> => (usd !== undefined && isAtLeastUsd(await readSpent(), usd) ? [tell(usd)] : []);
  const all = await Promise.all([
    ifSpent(
      budgetUsd,
      () => ledger.spentUsd(keyId),
      (usd) => totalSpent(amountOf(usd, budgetRaise)),
    ),
    ifSpent(
      monthlyBudgetUsd,
      () => ledger.spentUsd(keyId, monthOf(nowMs)),
      (usd) => monthSpent(amountOf(usd, budgetRaise), startOfNextMonth(nowMs)),
    ),
    ...groupBudgetsOf(caller, nowMs).map((group) =>
      ifSpent(
        group.budgetUsd,
        () => ledger.groupSpentUsd(group.id, { fromMs: group.fromMs, toMs: group.toMs }),
        (usd) => groupSpent(amountOf(usd, group.budgetRaise), group),
      ),
    ),
  ]);
  const [last] = all.flat().toSorted((one, other) => other.renewsMs - one.renewsMs);
  if (last) throw last.error;
}

/** Returns a budget in words. @param usd it includes the raise */
const amountOf = (usd: string, raise: BudgetRaise | undefined): string =>
  `${usd} US dollars${raise ? ` (raised by ${raise.usd} until ${new Date(raise.untilMs).toISOString()})` : ""}`;

const totalSpent = (amount: string): SpentBudget => ({
  renewsMs: always.toMs,
  error: new ApiError(
    "insufficient_quota",
    `The budget of this key, ${amount}, is spent. Ask the operator for a larger one.`,
  ),
});

/** Says when a monthly budget starts again, without the full stop. */
const monthRenewal = (renewsMs: number): string =>
  `It starts again on ${new Date(renewsMs).toISOString().slice(0, 10)} (UTC)`;

function monthSpent(amount: string, renewsMs: number): SpentBudget {
  const message = `The monthly budget of this key, ${amount}, is spent. ${monthRenewal(renewsMs)}, or ask the operator for a larger one.`;
  return { renewsMs, error: new ApiError("insufficient_quota", message) };
}

function groupSpent(amount: string, group: GroupBudget): SpentBudget {
  const renewal = renewalOf(group);
  const remedy =
    renewal === "" ? "Ask the operator for a larger one." : `${renewal}, or ask the operator for a larger one.`;
  const message = `The budget of ${nameOf(group)}, ${amount}, is spent. ${remedy}`;
  return { renewsMs: group.toMs, error: new ApiError("insufficient_quota", message, { details: detailsOf(group) }) };
}

const nameOf = ({ name, period }: CallerGroup): string =>
  period === undefined ? `the group ${name}` : `the group ${name} for each ${period}`;

/** Returns a sentence without its full stop; empty for a budget that never renews. */
const renewalOf = ({ timeZone, toMs }: GroupBudget): string =>
  timeZone === undefined ? "" : `It starts again on ${formatIn(toMs, timeZone)} (${timeZone})`;

const detailsOf = ({ name, period }: CallerGroup): ErrorDetails => ({
  budget: { of: "group", name, ...(period && { period }) },
});

/**
 * Returns 402 `insufficient_quota` with the maximum cost; with a default `maxTokens`, that of one token for each choice.
 * @param budgets the budgets that the request uses: the shortage is of one of them
 * @param startedMs the start of the request
 */
export function tooExpensive(
  bound: CostBound,
  { restUsd, heldUsd, groupId }: BudgetShortage,
  { budgetUsd, monthlyBudgetUsd, groups = [] }: Partial<KeyBudgets>,
  startedMs: number,
): ApiError {
  const neededUsd = costOf(bound, bound.isMaximumNamed ? bound.maxTokens : 1).toFixed();
  const remainingUsd = restUsd.startsWith("-") ? "0" : restUsd;
  const holding =
    heldUsd === "0" ? "" : ` Running requests hold ${heldUsd}; what they do not use comes back when they end.`;
  const group = groups.find(({ id }) => id === groupId);
  // Of a total and a monthly budget, the ledger does not tell which one is short.
  const isMonthly = !group && monthlyBudgetUsd !== undefined && budgetUsd === undefined;
  const renewal = group ? renewalOf(group) : isMonthly ? monthRenewal(startOfNextMonth(startedMs)) : "";
  const name = group ? `budget of ${nameOf(group)}` : `key's ${isMonthly ? "monthly " : ""}budget`;
  const budget = `${name} is left.${renewal && ` ${renewal}.`}`;
  const message = `This request may cost ${neededUsd} US dollars, and ${remainingUsd} of the ${budget}${holding} Lower max_completion_tokens, send a shorter prompt, or ask the operator for a larger budget.`;
  return new ApiError("insufficient_quota", message, {
    details: { needed_usd: neededUsd, remaining_usd: remainingUsd, ...(group && detailsOf(group)) },
  });
}
