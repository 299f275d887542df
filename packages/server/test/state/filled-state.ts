import { always } from "../../src/accounts/money/period.ts";
import type { State } from "../../src/state/open-state.ts";

export const pricing = { prompt: "0.0000008", completion: "0.0000035", image: "0", request: "0" };
export const usage = { promptTokens: 7, cachedTokens: 1, completionTokens: 3, reasoningTokens: 2 };
export const startedMs = Date.parse("2026-11-15T12:00:00Z");

const answered = { keyId: "bbbbbbbbbbbb", bodyHash: "1".repeat(64), nowMs: startedMs, expiresMs: startedMs + 1000 };
/** A deflated answer may have any byte. */
const body = Uint8Array.from({ length: 10_000 }, (_, index) => (index * index) % 256);
const names = ["one", "two ~", "three"] as const;

/** Writes admin keys, entries of the audit log, and answers for repeated requests. */
async function fillRest({ adminKeys, audit, idempotency, transact }: State): Promise<void> {
  const owner = { id: "dddddddddddd", hash: "hash-d", name: "öwner", scopes: ["keys:read"], createdMs: 1 } as const;
  await adminKeys.insert({ ...owner, groupId: "grp_1", expiresMs: 5 });
  await adminKeys.disable(owner.id, 6);
  await adminKeys.noteUse(owner.id, 7);
  const actor = { kind: "admin_key", id: owner.id, name: owner.name } as const;
  const entry = { actor, from: { address: "::1", agent: "curl" }, target: { id: "grp_1" }, outcome: "done" } as const;
  for (const attempts of [1, 7])
    await transact(() =>
      audit.append({ ...entry, atMs: attempts, action: "updateGroup", attempts, before: { a: "ü" }, after: {} }),
    );
  for (const [index, idempotencyKey] of names.entries()) {
    const claim = { ...answered, idempotencyKey, requestId: `req_${index}` };
    await idempotency.claim(claim);
    const answer = { requestId: claim.requestId, isStream: index === 1, ignored: index === 1 ? "user" : undefined };
    const bounds = { expiresMs: startedMs + 86_400_000 + index, maxAnswers: 10, maxBytes: 1_000_000 };
    await idempotency.keep(claim, { ...answer, body: body.slice(index) }, bounds);
  }
  // The server dies while this one runs.
  await idempotency.claim({ ...answered, idempotencyKey: "running", requestId: "req_9" });
}

/** Writes groups, keys, entries and all else that a state has. */
export async function fill(state: State): Promise<void> {
  const { groups, keys, ledger } = state;
  const budgetRaise = { usd: "2.5", untilMs: 1_850_000_000_000 };
  const zoned = { budgetUsd: "10.5", budgetRaise, period: "week", timeZone: "Asia/Kathmandu", maxKeys: 3 } as const;
  // The child is older than its parent.
  await groups.insert({ id: "grp_2", name: "pärent", createdMs: 2, ...zoned, keyCeiling: { budgetUsd: "1" } });
  await groups.insert({ id: "grp_1", name: "child", createdMs: 1, parentId: "grp_2" });
  await groups.insert({ id: "grp_3", name: "deleted", createdMs: 3 });
  await groups.delete("grp_3", 4);
  await groups.disable("grp_2", 5);
  await keys.insert({ id: "aaaaaaaaaaaa", hash: "hash-a", name: "pläin\n🦊", createdMs: 1 });
  const rules = { expiresMs: 4, models: ["vendor/model-1"], requestsPerMinute: 5, tokensPerMinute: 6, concurrency: 7 };
  const money = { weight: 8, budgetUsd: "9.000000000000000001", monthlyBudgetUsd: "0.5", budgetRaise };
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
  await fillRest(state);
}

export const spentBy = ({ ledger }: State, groupId: string): Promise<string> => ledger.groupSpentUsd(groupId, always);

/** Returns everything that a state has. */
export async function contentsOf(state: State): Promise<object> {
  const { groups, keys, ledger, cacheSecret, adminKeys, audit, idempotency } = state;
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
      adminKeys: await adminKeys.list(),
      audit: await audit.read({}, 100),
      answers: await Promise.all(
        names.map(async (idempotencyKey) => {
          const outcome = await idempotency.claim({ ...answered, idempotencyKey, requestId: "req_new" });
          return outcome.kind === "answered" ? { ...outcome.answer, body: [...outcome.answer.body] } : outcome;
        }),
      ),
    }),
  ) as object;
}
