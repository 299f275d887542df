import { Big } from "big.js";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { GroupStore, StoredGroup } from "./groups/group-store.ts";
import type { UsageLedger } from "./ledger/usage-ledger.ts";
import { raiseAt, raisedUsd } from "./money/budget-raise.ts";
import { spanOf } from "./money/budgets.ts";

/** Maximum number of groups with a series. */
const maxGroups = 1000;

export interface GroupMetricsSources {
  readonly groups: Pick<GroupStore, "list">;
  readonly ledger: Pick<UsageLedger, "groupSpentUsd">;
  readonly nowMs: () => number;
}

/** Returns the spent share of a budget. Nothing is left of a budget of 0. */
export const usedShare = (spentUsd: string, budgetUsd: string): number =>
  new Big(budgetUsd).eq(0) ? 1 : new Big(spentUsd).div(budgetUsd).toNumber();

/**
 * Adds the spent shares of the budgets of groups, the oldest groups first. They are read from the store at each scrape. While
 * the store is away, there is none.
 */
export function addGroupMetrics(registers: Registry[], sources: GroupMetricsSources): void {
  const gauge = new Gauge({
    name: "parley_group_budget_used_ratio",
    help: "Cost of the ended requests of a group in the running period, as a share of its budget: 1 is all of it.",
    labelNames: ["group_id", "group"],
    registers,
    collect: async () => {
      const shares = await readShares(sources).catch(() => []);
      gauge.reset();
      for (const [{ id, name }, share] of shares) gauge.set({ group_id: id, group: name }, share);
    },
  });
}

/** Reads one group after the other, so requests do not wait behind a thousand reads. */
async function readShares({ groups, ledger, nowMs }: GroupMetricsSources) {
  const ms = nowMs();
  const shares: (readonly [StoredGroup, number])[] = [];
  for (const group of await groups.list()) {
    const budgetUsd = raisedUsd(group.budgetUsd, raiseAt(group.budgetRaise, ms));
    if (budgetUsd === undefined) continue;
    const { fromMs, toMs } = spanOf(group, ms);
    shares.push([group, usedShare(await ledger.groupSpentUsd(group.id, { fromMs, toMs }), budgetUsd)]);
    if (shares.length === maxGroups) break;
  }
  return shares;
}
