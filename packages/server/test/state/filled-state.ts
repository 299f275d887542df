import { always } from "../../src/accounts/money/period.ts";
import type { State } from "../../src/state/open-state.ts";

export const pricing = { prompt: "0.0000008", completion: "0.0000035", image: "0", request: "0" };
export const usage = { promptTokens: 7, cachedTokens: 1, completionTokens: 3, reasoningTokens: 2 };
export const startedMs = Date.parse("2026-11-15T12:00:00Z");

/** Writes groups, keys and entries of every kind. */
export async function fill({ groups, keys, ledger }: State): Promise<void> {
  const zoned = { budgetUsd: "10.5", period: "week", timeZone: "Asia/Kathmandu", maxKeys: 3 } as const;
  // The child is older than its parent.
  await groups.insert({ id: "grp_2", name: "pärent", createdMs: 2, ...zoned, keyCeiling: { budgetUsd: "1" } });
  await groups.insert({ id: "grp_1", name: "child", createdMs: 1, parentId: "grp_2" });
  await groups.insert({ id: "grp_3", name: "deleted", createdMs: 3 });
  await groups.delete("grp_3", 4);
  await groups.disable("grp_2", 5);
  await keys.insert({ id: "aaaaaaaaaaaa", hash: "hash-a", name: "pläin\n🦊", createdMs: 1 });
  const rules = { expiresMs: 4, models: ["vendor/model-1"], requestsPerMinute: 5, tokensPerMinute: 6, concurrency: 7 };
  const money = { weight: 8, budgetUsd: "9.000000000000000001", monthlyBudgetUsd: "0.5" };
  await keys.insert({
    id: "bbbbbbbbbbbb",
    hash: "hash-b",
    name: "every rule",
    createdMs: 2,
    ...rules,
    ...money,
    groupId: "grp_1",
  });
  await keys.replaceHash("bbbbbbbbbbbb", "hash-b2", 1_900_000_000_000);
  await keys.disable("bbbbbbbbbbbb", 3);
  await keys.insert({ id: "cccccccccccc", hash: "hash-c", name: "deleted", createdMs: 3 });
  await keys.delete("cccccccccccc", 10);
  const groupIds = ["grp_1", "grp_2"];
  const opened = { keyId: "bbbbbbbbbbbb", groupIds, model: "vendor/model-1", isStream: true, startedMs, pricing };
  const hold = {
    budgets: { budgetUsd: "9", monthlyBudgetUsd: undefined },
    bound: { fixedUsd: "0.1", perTokenUsd: "0.00001", maxTokens: 100, isMaximumNamed: true },
  };
  for (let count = 0; count < 120; count += 1) {
    const id = `req_${count}`;
    await ledger.open({ ...opened, id, startedMs: startedMs + count }, count < 3 ? hold : undefined);
    if (count === 1) await ledger.checkpoint([{ id, usage }]);
    if (count < 2) continue;
    const end = { usage, costUsd: `0.00000${count}01`, endedMs: startedMs + count * 86_400_000 };
    await ledger.close({
      id,
      keyId: opened.keyId,
      outcome: "complete",
      errorCode: count % 2 ? "x" : undefined,
      ...end,
    });
  }
}

export const spentBy = ({ ledger }: State, groupId: string): Promise<string> => ledger.groupSpentUsd(groupId, always);

/** Returns everything that a state has. */
export async function contentsOf(state: State): Promise<object> {
  const { groups, keys, ledger, cacheSecret } = state;
  const months = ["2026-11", "2026-12", "2027-01", "2027-02", "2027-03"];
  return JSON.parse(
    JSON.stringify({
      groups: await groups.list(),
      groupNames: Object.fromEntries(await groups.names()),
      groupSpent: [await spentBy(state, "grp_1"), await spentBy(state, "grp_2")],
      keys: await keys.list(),
      names: Object.fromEntries(await keys.names()),
      entries: await Array.fromAsync(ledger.entries()),
      spent: await ledger.spentUsd("bbbbbbbbbbbb"),
      spentInMonths: await Promise.all(months.map((month) => ledger.spentUsd("bbbbbbbbbbbb", month))),
      abandoned: (await ledger.abandoned()).map(({ id }) => id),
      secret: [...cacheSecret],
    }),
  ) as object;
}
