import type { Caller } from "../auth/caller.ts";
import { monthOf, startOfNextMonth } from "./month.ts";
import { isAtLeastUsd } from "./price.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** A budget that a key has used up. */
export interface SpentBudget {
  readonly amountUsd: string;
  /** When a monthly budget renews, in Unix milliseconds; undefined for a total budget, which does not renew. */
  readonly renewsMs: number | undefined;
}

/** Checks the total budget of a caller, then the monthly one. @returns the first that is spent, undefined if none is */
export async function findSpentBudget(
  { keyId, budgetUsd, monthlyBudgetUsd }: Caller,
  ledger: Pick<UsageLedger, "spentUsd">,
  nowMs: number,
): Promise<SpentBudget | undefined> {
  if (budgetUsd !== undefined && isAtLeastUsd(await ledger.spentUsd(keyId), budgetUsd))
    return { amountUsd: budgetUsd, renewsMs: undefined };
  if (monthlyBudgetUsd !== undefined && isAtLeastUsd(await ledger.spentUsd(keyId, monthOf(nowMs)), monthlyBudgetUsd))
    return { amountUsd: monthlyBudgetUsd, renewsMs: startOfNextMonth(nowMs) };
  return undefined;
}
