import type { StoredGroup } from "../groups/group-store.ts";
import type { KeyChange, KeyRules } from "../keys/key-store.ts";
import { raiseAt, raisedUsd } from "../money/budget-raise.ts";
import { isAtLeastUsd } from "../money/price.ts";
import { amountBoundOf, amounts } from "./ceiling.ts";
import { ManageError } from "./manage-error.ts";
import { wireNameOf } from "./wire.ts";

type Budgets = Pick<KeyRules, "budgetUsd" | "monthlyBudgetUsd" | "budgetRaise">;

/**
 * Checks that a raise has a budget. A change that leaves no budget withdraws the raise that was there.
 * @param before the key or the group
 * @returns the change to store
 * @throws {ManageError} `conflict` for a new raise without a budget
 */
export function fitRaise<Change extends Budgets>(change: Change, before: Budgets & { readonly name: string }): Change {
  const { budgetUsd, monthlyBudgetUsd } = { ...before, ...change };
  if (budgetUsd !== undefined || monthlyBudgetUsd !== undefined) return change;
  if (change.budgetRaise)
    throw new ManageError("conflict", `${before.name} has no budget that could be raised.`, "budget_raise");
  return before.budgetRaise ? { ...change, budgetRaise: undefined } : change;
}

/**
 * Checks that the owner of a group raises no budget of a key above the ceilings of its groups.
 * @param change the rules that the owner changes
 * @param before the key
 * @param chain the group of the key, then that group's parent
 * @throws {ManageError} `above_ceiling`
 */
export function assertRaiseFits(
  change: KeyChange,
  before: KeyRules,
  chain: readonly StoredGroup[],
  nowMs: number,
): void {
  const after = { ...before, ...change };
  const raise = raiseAt(after.budgetRaise, nowMs);
  if (!raise || !["budgetRaise", ...amounts].some((rule) => rule in change)) return;
  for (const rule of amounts) {
    const bound = amountBoundOf(rule, chain);
    const raised = raisedUsd(after[rule], raise);
    if (!bound || raised === undefined || isAtLeastUsd(bound.max, raised)) continue;
    throw new ManageError(
      "above_ceiling",
      `With its raise, ${wireNameOf[rule]} is ${raised}. The ceiling of the group ${bound.group} is ${bound.max}.`,
      "budget_raise",
    );
  }
}
