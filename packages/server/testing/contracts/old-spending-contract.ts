import assert from "node:assert/strict";
import { always } from "../../src/accounts/money/period.ts";
import type { ContractCase } from "./contract-case.ts";
import {
  closed,
  company,
  companyBudget,
  held,
  holdFor,
  inNovember,
  keyOf,
  november,
  opened,
  spendAt,
  team,
  teamBudget,
} from "./group-budget-contract.ts";
import type { UsageLedgerSubject } from "./usage-ledger-contract.ts";

/** The cases about spending of groups that no period needs any more. */
export const oldSpendingContract: readonly ContractCase<UsageLedgerSubject>[] = [
  {
    title: "joins old spending: all time and later spans stay as they were",
    assert: async ({ ledger }) => {
      const days = Array.from({ length: 30 }, (_none, day) => inNovember - (day + 100) * 86_400_000);
      for (const [index, startedMs] of days.entries()) await spendAt(ledger, `old ${index}`, startedMs, "0.0000001");
      await spendAt(ledger, "new", inNovember, "0.2");
      const sums = async (): Promise<string[]> => [
        await ledger.groupSpentUsd(team.id, always),
        await ledger.groupSpentUsd(company.id, always),
        await ledger.groupSpentUsd(team.id, november),
      ];
      assert.deepEqual(await sums(), ["0.200003", "0.200003", "0.2"]);
      // A slot for each of thirty days, in two groups.
      assert.equal(await ledger.joinOldSpending(november.fromMs), 60);
      assert.equal(await ledger.joinOldSpending(november.fromMs), 0);
      assert.deepEqual(await sums(), ["0.200003", "0.200003", "0.2"]);
    },
  },
  {
    title: "joins old spending exactly while its entries are opened and closed",
    assert: async ({ ledger }) => {
      const life = { ...teamBudget, ...always, budgetUsd: "100" };
      const work = Array.from({ length: 60 }, async (_none, index) => {
        const startedMs = november.fromMs - (index % 9) * 86_400_000 - 1;
        const id = `r ${index}`;
        await ledger.open(opened(id, keyOf(id), startedMs), holdFor([life, { ...companyBudget, ...always }]));
        if (index % 3 === 0) return await ledger.withdraw(id);
        return await ledger.close(closed(id, "0.0625", keyOf(id), startedMs));
      });
      const joins = Array.from({ length: 20 }, async (_none, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 3));
        return ledger.joinOldSpending(november.fromMs);
      });
      await Promise.all([...work, ...joins]);
      await ledger.joinOldSpending(november.fromMs);
      for (const { id } of [team, company]) assert.equal(await ledger.groupSpentUsd(id, always), "2.5");
      // Nothing is held any more: 2.5 spent and 0.251 to be held are exactly this budget.
      const exact = { ...life, budgetUsd: "2.751" };
      assert.deepEqual(await ledger.open(opened("last"), holdFor([exact])), held);
    },
  },
];
