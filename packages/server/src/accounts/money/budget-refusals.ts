import { Big } from "big.js";
import { ApiError } from "../../errors/api-error.ts";
import type { Caller } from "../keys/caller.ts";
import type { BudgetShortage, KeyBudgets, UsageLedger } from "../ledger/usage-ledger.ts";
import { budgetsAt, readSpentUsd, toKeyBudget } from "./budget-state.ts";
import type { Budget } from "./budget-state.ts";
import { costOf } from "./budgets.ts";
import type { CostBound } from "./budgets.ts";
import { formatIn } from "./period.ts";
import { isAtLeastUsd } from "./price.ts";

/**
 * Checks the budgets of a key and of its groups. Of several that are used up, it tells the one that starts again last.
 * @throws {ApiError} 402 `insufficient_quota` if closed requests have used up a budget
 */
export async function assertUnspent(
  caller: Caller,
  ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd">,
  nowMs: number,
): Promise<void> {
  const all = await Promise.all(
    budgetsAt(caller, nowMs).map(async (budget) => ({
      budget,
      usageUsd: await readSpentUsd(ledger, caller.keyId, budget),
    })),
  );
  const spent = all.filter(({ budget, usageUsd }) => isAtLeastUsd(usageUsd, budget.limitUsd));
  const [last] = spent.toSorted((one, other) => other.budget.toMs - one.budget.toMs);
  if (!last) return;
  const renewal = renewalOf(last.budget);
  const remedy = renewal === "" ? "Ask the operator" : `${renewal}, or ask the operator`;
  throw new ApiError("insufficient_quota", `The ${nameOf(last.budget)} is spent. ${remedy} for a larger one.`, {
    details: { budget: toKeyBudget(last.budget, last.usageUsd) },
  });
}

/**
 * Returns 402 `insufficient_quota` with the maximum cost; with a default `maxTokens`, that of one token for each choice.
 * @param budgets the budgets that the request uses: the shortage is of one of them
 * @param startedMs the start of the request
 */
export function tooExpensive(
  bound: CostBound,
  { restUsd, heldUsd, groupId, isMonthly = false }: BudgetShortage,
  { budgetUsd, monthlyBudgetUsd, budgetRaise, groups = [] }: KeyBudgets,
  startedMs: number,
): ApiError {
  const neededUsd = costOf(bound, bound.isMaximumNamed ? bound.maxTokens : 1).toFixed();
  const remainingUsd = restUsd.startsWith("-") ? "0" : restUsd;
  const holding =
    heldUsd === "0" ? "" : ` Running requests hold ${heldUsd}; what they do not use comes back when they end.`;
  const budget = budgetsAt({ budgetUsd, monthlyBudgetUsd, budgetRaise, groups }, startedMs).find(
    ({ group, renewal }) => group?.id === groupId && (group !== undefined || (renewal !== undefined) === isMonthly),
  );
  if (!budget) throw new Error("a budget that the request does not use is short");
  const renewal = renewalOf(budget);
  const message = `This request may cost ${neededUsd} US dollars, and ${remainingUsd} of the ${nameOf(budget)} is left.${renewal && ` ${renewal}.`}${holding} Lower max_completion_tokens, send a shorter prompt, or ask the operator for a larger budget.`;
  const usageUsd = new Big(budget.limitUsd).minus(restUsd).minus(heldUsd).toFixed();
  return new ApiError("insufficient_quota", message, {
    details: { needed_usd: neededUsd, remaining_usd: remainingUsd, budget: toKeyBudget(budget, usageUsd) },
  });
}

/** Returns the name of a budget and its amount, with a comma at the end. */
function nameOf({ group, limitUsd, raise, renewal }: Budget): string {
  const period = renewal ? ` for each ${renewal.period}` : "";
  const name = group
    ? `budget of the group ${group.name}${period}`
    : `${renewal ? "monthly" : "total"} budget of this key`;
  const raised = raise ? ` (raised by ${raise.usd} until ${new Date(raise.untilMs).toISOString()})` : "";
  return `${name}, ${limitUsd} US dollars${raised},`;
}

/** Returns a sentence without its full stop; empty for a budget that never starts again. */
const renewalOf = ({ renewal, toMs }: Budget): string =>
  renewal ? `It starts again on ${formatIn(toMs, renewal.timeZone)} (${renewal.timeZone})` : "";
