import { addUsd } from "./price.ts";

/** A raise of budgets for a limited time. */
export interface BudgetRaise {
  /** US dollars, more than 0, a decimal string: each budget is higher by this amount. */
  readonly usd: string;
  /** The time from which the budgets are as before, in Unix milliseconds. */
  readonly untilMs: number;
}

/** Returns a raise if it counts at a time. */
export const raiseAt = (raise: BudgetRaise | undefined, ms: number): BudgetRaise | undefined =>
  raise !== undefined && ms < raise.untilMs ? raise : undefined;

/** Returns a budget with the raise that counts; undefined if there is no budget. */
export const raisedUsd = (budgetUsd: string | undefined, raise: BudgetRaise | undefined): string | undefined =>
  budgetUsd === undefined || raise === undefined ? budgetUsd : addUsd(budgetUsd, raise.usd);
