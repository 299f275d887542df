import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@parley/server/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { withStoredKeys } from "../../src/accounts/keys/find-caller.ts";
import { performFor } from "../../src/accounts/manage/perform.ts";
import type { Perform } from "../../src/accounts/manage/perform.ts";
import { assertUnspent } from "../../src/accounts/money/budget-refusals.ts";
import { budgetsOf } from "../../src/accounts/money/budgets.ts";
import { openState } from "../../src/state/open-state.ts";
import type { State } from "../../src/state/open-state.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { postgresFolder, TestPostgres } from "../../testing/start-postgres.ts";
import { user } from "../admin/use-admin.ts";

/** Servers that share a state, and their clock. */
interface Servers {
  readonly states: readonly [State, State];
  nowMs: number;
}

const startMs = Date.parse("2026-11-28T12:00:00Z");
const endMs = startMs + 3_600_000;
const none = { id: undefined, query: {}, body: undefined };
const pricing = { prompt: "0", completion: "0", image: "0", request: "0" };
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 };
const bound = { fixedUsd: "3", perTokenUsd: "0", maxTokens: 1, isMaximumNamed: true };

const performOn = (servers: Servers, state: State): Perform =>
  performFor(
    { state, refused: { note: async () => undefined }, resolveModel: String, nowMs: () => servers.nowMs },
    user,
  );

/** Makes a group with a budget of 5 dollars and a key of 4 in it. */
async function setUp(servers: Servers) {
  const operator = performOn(servers, servers.states[0]);
  const zoned = { name: "team", budget_usd: "5", period: "month", time_zone: "UTC" } as const;
  const group = await operator("createGroup", { ...none, body: zoned });
  const body = { name: "key", group_id: group.id, budget_usd: "4" };
  const { key, token } = await operator("createKey", { ...none, body });
  const callerOn = async (state: State) => {
    const found = await withStoredKeys(state.keys, () => servers.nowMs)(token, () => user.from);
    if (!found) throw new Error("the key is admitted");
    return found;
  };
  /** Lets a request of 3 dollars run. @returns the budget that does not pay for it; undefined if it has run */
  const request = async (state: State, id: string): Promise<string | undefined> => {
    const caller = await callerOn(state);
    const row = { id, keyId: key.id, model: "m", isStream: false, startedMs: servers.nowMs, pricing };
    const budgets = budgetsOf(caller, servers.nowMs);
    if (!budgets) throw new Error("the key has budgets");
    const opened = await state.ledger.open({ ...row, groupIds: [group.id] }, { budgets, bound });
    if (opened && "restUsd" in opened) return opened.groupId ?? "key";
    const end = { usage, outcome: "complete", errorCode: undefined, costUsd: "3", endedMs: servers.nowMs } as const;
    await state.ledger.close({ id, keyId: key.id, groupIds: [group.id], ...end });
    return undefined;
  };
  const raise = (usd: string) => ({ budget_raise: { usd, until: new Date(endMs).toISOString() } });
  return { operator, groupId: group.id, keyId: key.id, callerOn, request, raise };
}

async function assertRaises(servers: Servers): Promise<void> {
  const [one, two] = servers.states;
  const { operator, groupId, keyId, callerOn, request, raise } = await setUp(servers);
  expect(await request(one, "first")).toBeUndefined();
  // 1 dollar of the key and 2 of the group are left.
  expect(await request(two, "refused")).toBe("key");
  await operator("updateKey", { id: keyId, query: {}, body: raise("2") });
  await until(
    () => callerOn(two),
    ({ budgetUsd }) => budgetUsd === "6",
  );
  expect(await request(two, "still refused")).toBe(groupId);
  expect(await operator("updateGroup", { id: groupId, query: {}, body: raise("1.5") })).toMatchObject(raise("1.5"));
  await until(
    () => callerOn(two),
    ({ groups }) => groups[0]?.budgetUsd === "6.5",
  );
  servers.nowMs = endMs - 1;
  expect(await request(two, "second")).toBeUndefined();
  await expect(assertUnspent(await callerOn(one), one.ledger, servers.nowMs)).rejects.toThrow(
    "The total budget of this key, 6 US dollars (raised by 2 until 2026-11-28T13:00:00.000Z), is spent.",
  );
  servers.nowMs = endMs;
  for (const state of servers.states)
    expect(await callerOn(state)).toMatchObject({
      budgetUsd: "4",
      groups: [{ budgetUsd: "5", budgetRaise: undefined }],
    });
  await expect(assertUnspent(await callerOn(two), two.ledger, endMs)).rejects.toThrow("key, 4 US dollars, is spent.");
  expect((await operator("listKeys", none)).data).toMatchObject([{ budget_usd: "4", budget_raise: null }]);
  expect((await operator("listGroups", none)).data).toMatchObject([{ budget_usd: "5", budget_raise: null }]);
}

async function assertRecorded(servers: Servers): Promise<void> {
  const { operator, groupId, keyId, callerOn, raise } = await setUp(servers);
  await operator("updateGroup", { id: groupId, query: {}, body: raise("1") });
  await operator("updateKey", { id: keyId, query: {}, body: raise("1") });
  servers.nowMs = endMs;
  const late = operator("updateKey", { id: keyId, query: {}, body: raise("2") });
  await expect(late).rejects.toThrow("budget_raise.until must be in the future.");
  servers.nowMs = startMs;
  await operator("updateGroup", { id: groupId, query: {}, body: { budget_raise: null } });
  const { data } = await operator("listAudit", { ...none, query: { limit: 4 } });
  expect(data.map(({ action, before, after }) => [action, before?.["budget_raise"], after?.["budget_raise"]])).toEqual([
    ["updateGroup", raise("1").budget_raise, null],
    ["updateKey", null, raise("1").budget_raise],
    ["updateGroup", null, raise("1").budget_raise],
    ["createKey", undefined, null],
  ]);
  await until(
    () => callerOn(servers.states[1]),
    ({ groups }) => groups[0]?.budgetUsd === "5",
  );
  // A raise does not outlive its budget.
  await operator("updateKey", { id: keyId, query: {}, body: { budget_usd: null } });
  const key = await operator("updateKey", { id: keyId, query: {}, body: { budget_usd: "1" } });
  expect(key).toMatchObject({ budget_usd: "1", budget_raise: null });
}

async function assertPlainAmounts(servers: Servers): Promise<void> {
  const { operator, groupId, keyId } = await setUp(servers);
  const budgets = {
    budget_usd: "05.50",
    monthly_budget_usd: "000",
    budget_raise: { usd: "01.0", until: "2099-01-31" },
  };
  await operator("updateKey", { id: keyId, query: {}, body: budgets });
  const ceiling = { budget_usd: "007", monthly_budget_usd: "0.10" };
  await operator("updateGroup", { id: groupId, query: {}, body: { budget_usd: "0100", key_ceiling: ceiling } });
  expect((await operator("listKeys", none)).data).toMatchObject([
    { budget_usd: "5.5", monthly_budget_usd: "0", budget_raise: { usd: "1" } },
  ]);
  expect((await operator("listGroups", none)).data).toMatchObject([
    { budget_usd: "100", key_ceiling: { budget_usd: "7", monthly_budget_usd: "0.1" } },
  ]);
}

const cases = [
  ["a raise counts on every server, and ends on each at the same time", assertRaises],
  ["a raise is recorded, and can be withdrawn", assertRecorded],
  ["amounts have no needless zeros", assertPlainAmounts],
] as const;

test.each(cases)("on two connections to one data folder, %s", async (_title, assert) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-raises-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  using one = openState(folder);
  using two = openState(folder);
  await assert({ states: [one, two], nowMs: startMs });
});

describe.skipIf(!postgresFolder)("on PostgreSQL (this needs `initdb`)", () => {
  test.each(cases)("%s", async (_title, assert) => {
    await using postgres = await TestPostgres.start();
    const url = postgres.urlOf(await postgres.createDatabase());
    await using one = await openPostgres(url);
    await using two = await openPostgres(url);
    await assert({ states: [one, two], nowMs: startMs });
  });
});
