import type { Caller } from "../auth/caller.ts";
import { monthOf, startOfNextMonth } from "./month.ts";
import { isAtLeastUsd } from "./price.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** A budget that a key has used up. */
export interface SpentBudget {
  readonly amountUsd: string;
  /** When it starts again, for the budget of a month; undefined: when the operator raises it. */
  readonly renewsMs: number | undefined;
}

/** Looks at the total budget of a caller, then at that of the month. @returns undefined: it may spend */
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
