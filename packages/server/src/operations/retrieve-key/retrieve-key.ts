import { Big } from "big.js";
import type { components } from "@parley/contract/types";
import type { Caller } from "../../accounts/keys/caller.ts";
import { environmentKey } from "../../accounts/keys/find-caller.ts";
import type { KeyStore } from "../../accounts/keys/key-store.ts";
import type { UsageLedger } from "../../accounts/ledger/usage-ledger.ts";
import type { LimitState } from "../../accounts/limits/limit-store.ts";
import type { Limits } from "../../accounts/limits/limits.ts";
import type { BudgetRaise } from "../../accounts/money/budget-raise.ts";
import { groupBudgetsOf } from "../../accounts/money/budgets.ts";
import { monthOf, startOfNextMonth } from "../../accounts/money/month.ts";
import { modelsFor } from "../../models/pick-engine.ts";
import type { ServedModels } from "../../models/pick-engine.ts";
import type { Operation } from "../call.ts";

type KeyState = components["schemas"]["KeyState"];
type KeyBudget = KeyState["budgets"][number];

export interface KeyStateDeps {
  readonly models: ServedModels;
  readonly keys: Pick<KeyStore, "find">;
  readonly ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd">;
  readonly limits: Limits;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** Returns the limits and budgets of the caller's key. The id of the key is left out, because it is a part of its token. */
export const retrieveKey =
  ({ models, keys, ledger, limits, nowMs }: KeyStateDeps): Operation<"retrieveKey"> =>
  async ({ caller }) => {
    const [key, { requests, tokens }, budgets] = await Promise.all([
      keys.find(caller.keyId),
      limits.states(caller),
      statesOf(caller, ledger, nowMs()),
    ]);
    const rateOf = ({ limit, remaining, resetMs }: LimitState): KeyState["limits"]["requests"] => ({
      limit,
      remaining,
      resets_at: toTime(nowMs() + resetMs),
    });
    return {
      object: "key",
      label: key?.name ?? environmentKey,
      ...(key && { created_at: toTime(key.createdMs) }),
      ...(key?.expiresMs !== undefined && { expires_at: toTime(key.expiresMs) }),
      models: modelsFor(models, caller).map(({ id }) => id),
      limits: {
        requests: rateOf(requests),
        tokens: rateOf(tokens),
        ...(caller.concurrency !== undefined && { concurrency: caller.concurrency }),
      },
      budgets,
    };
  };

const toTime = (ms: number): string => new Date(ms).toISOString();

/** Returns the budgets of a key: its total, that of the month, then those of its group and of that group's parent. */
async function statesOf(caller: Caller, ledger: KeyStateDeps["ledger"], nowMs: number): Promise<KeyBudget[]> {
  const { keyId, budgetUsd, monthlyBudgetUsd, budgetRaise } = caller;
  const month = { period: "month", time_zone: "UTC", resets_at: toTime(startOfNextMonth(nowMs)) } as const;
  const budgets: KeyBudget[] = [];
  if (budgetUsd !== undefined)
    budgets.push({ scope: "key", ...amountsOf(budgetUsd, await ledger.spentUsd(keyId), budgetRaise) });
  if (monthlyBudgetUsd !== undefined) {
    const spentUsd = await ledger.spentUsd(keyId, monthOf(nowMs));
    budgets.push({ scope: "key", ...amountsOf(monthlyBudgetUsd, spentUsd, budgetRaise), ...month });
  }
  for (const [depth, group] of groupBudgetsOf(caller, nowMs).entries()) {
    const { id, name, budgetUsd: limitUsd, period, timeZone, fromMs, toMs } = group;
    if (limitUsd === undefined) continue;
    const scope = depth === 0 ? "group" : "parent_group";
    const renewal = period && timeZone && { period, time_zone: timeZone, resets_at: toTime(toMs) };
    const spentUsd = await ledger.groupSpentUsd(id, { fromMs, toMs });
    budgets.push({ scope, name, ...amountsOf(limitUsd, spentUsd, group.budgetRaise), ...renewal });
  }
  return budgets;
}

/** Returns the amounts of a budget. @param limitUsd it includes the raise */
function amountsOf(limitUsd: string, usageUsd: string, raise: BudgetRaise | undefined): Omit<KeyBudget, "scope"> {
  const rest = new Big(limitUsd).minus(usageUsd);
  return {
    limit_usd: limitUsd,
    ...(raise && { raised_usd: raise.usd, raised_until: toTime(raise.untilMs) }),
    usage_usd: usageUsd,
    remaining_usd: rest.lt(0) ? "0" : rest.toFixed(),
  };
}
