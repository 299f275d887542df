import { Big } from "big.js";
import type { components } from "@parley/contract/types";
import type { Caller } from "../keys/caller.ts";
import type { UsageLedger } from "../ledger/usage-ledger.ts";
import type { BudgetRaise } from "./budget-raise.ts";
import { groupBudgetsOf } from "./budgets.ts";
import { monthOf, startOfMonth, startOfNextMonth } from "./month.ts";
import { always } from "./period.ts";
import type { Period, Span } from "./period.ts";

/** A budget as callers see it. */
export type KeyBudget = components["schemas"]["KeyBudget"];

/** A budget that the requests of a key have to fit in, and its period that contains a time. */
export interface Budget extends Span {
  readonly scope: KeyBudget["scope"];
  /** Undefined for a budget of the key itself. */
  readonly group: { readonly id: string; readonly name: string } | undefined;
  /** US dollars with the raise, a decimal string. */
  readonly limitUsd: string;
  readonly raise: BudgetRaise | undefined;
  /** Undefined for a budget that never starts again. */
  readonly renewal: { readonly period: Period; readonly timeZone: string } | undefined;
}

/** Returns the budgets of a key: its total, that of the month, then those of its group and of that group's parent. */
export function budgetsAt(
  caller: Pick<Caller, "budgetUsd" | "monthlyBudgetUsd" | "budgetRaise" | "groups">,
  ms: number,
): Budget[] {
  const { budgetUsd, monthlyBudgetUsd, budgetRaise: raise } = caller;
  const own = { scope: "key", group: undefined, raise } as const;
  return [
    ...(budgetUsd === undefined ? [] : [{ ...own, limitUsd: budgetUsd, renewal: undefined, ...always }]),
    ...(monthlyBudgetUsd === undefined
      ? []
      : [
          {
            ...own,
            limitUsd: monthlyBudgetUsd,
            renewal: { period: "month", timeZone: "UTC" },
            ...monthAt(ms),
          } as const,
        ]),
    ...groupBudgetsOf(caller, ms).flatMap((group, depth) => {
      const { id, name, budgetUsd: limitUsd, budgetRaise, period, timeZone, fromMs, toMs } = group;
      const scope = depth === 0 ? ("group" as const) : ("parent_group" as const);
      const renewal = period && timeZone !== undefined ? { period, timeZone } : undefined;
      return limitUsd === undefined
        ? []
        : [{ scope, group: { id, name }, limitUsd, raise: budgetRaise, renewal, fromMs, toMs }];
    }),
  ];
}

const monthAt = (ms: number): Span => ({ fromMs: startOfMonth(ms), toMs: startOfNextMonth(ms) });

/** Returns the cost of the requests that have ended, in the period of a budget, in US dollars. */
export function readSpentUsd(
  ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd">,
  keyId: string,
  { group, renewal, fromMs, toMs }: Budget,
): Promise<string> {
  if (group) return ledger.groupSpentUsd(group.id, { fromMs, toMs });
  return renewal ? ledger.spentUsd(keyId, monthOf(fromMs)) : ledger.spentUsd(keyId);
}

/** Returns a budget as callers see it. @param usageUsd the amount that is spent, a decimal string */
export function toKeyBudget({ scope, group, limitUsd, raise, renewal, toMs }: Budget, usageUsd: string): KeyBudget {
  const rest = new Big(limitUsd).minus(usageUsd);
  return {
    scope,
    ...(group && { name: group.name }),
    limit_usd: limitUsd,
    ...(raise && { raised_usd: raise.usd, raised_until: toTime(raise.untilMs) }),
    usage_usd: usageUsd,
    remaining_usd: rest.lt(0) ? "0" : rest.toFixed(),
    ...(renewal && { period: renewal.period, time_zone: renewal.timeZone, resets_at: toTime(toMs) }),
  };
}

const toTime = (ms: number): string => new Date(ms).toISOString();
