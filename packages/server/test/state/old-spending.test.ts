import { array, assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { openPostgres, postgresFolder, TestPostgres } from "@parley/server/testing";
import { spanOf } from "../../src/accounts/money/budgets.ts";
import { always, keptSpendingMs } from "../../src/accounts/money/period.ts";
import type { UsageLedger } from "../../src/accounts/ledger/usage-ledger.ts";
import { DiskSync } from "../../src/state/disk-sync.ts";
import { SqliteUsageLedger } from "../../src/state/sqlite-usage-ledger.ts";
import { DataFolder } from "./data-folder.ts";

/** The spending of groups that no period needs any more is joined. */

const dayMs = 86_400_000;
const from = Date.parse("2026-01-01");
const pricing = { prompt: "0", completion: "0", image: "0", request: "0" };
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 };
const bound = { fixedUsd: "1", perTokenUsd: "0", maxTokens: 1, isMaximumNamed: true };
const rules = [
  { period: undefined, timeZone: undefined },
  ...(["day", "week", "month"] as const).flatMap((period) =>
    ["Pacific/Kiritimati", "Pacific/Niue", "America/Sao_Paulo"].map((timeZone) => ({ period, timeZone })),
  ),
];
type Rule = (typeof rules)[number];

/** Opens an entry of one dollar, and closes it. @returns whether the budget paid for it */
async function spend(
  ledger: UsageLedger,
  id: string,
  startedMs: number,
  rule: Rule,
  budgetUsd: string,
): Promise<boolean> {
  const group = { id: "grp_1", name: "group", budgetUsd, ...rule, ...spanOf(rule, startedMs) };
  const row = { id, keyId: "key", model: "m", isStream: false, startedMs, pricing };
  const budgets = { budgetUsd: undefined, monthlyBudgetUsd: undefined, groups: [group] };
  const got = await ledger.open({ ...row, groupIds: [group.id] }, { budgets, bound });
  if (!got || !("maxTokens" in got)) return false;
  const end = { usage, outcome: "complete", errorCode: undefined, costUsd: "1" } as const;
  await ledger.close({ ...end, id, keyId: row.keyId, endedMs: startedMs });
  return true;
}

test("over two years, no budget is reset late, early or twice, and few amounts are left", async () => {
  const step = record({ waitMs: integer({ min: 0, max: 40 * dayMs }), rule: constantFrom(...rules) });
  await assert(
    asyncProperty(
      array(step, { minLength: 10, maxLength: 30 }),
      integer({ min: 1, max: 4 }),
      async (steps, dollars) => {
        await using folder = new DataFolder();
        const database = folder.open();
        const ledger = new SqliteUsageLedger(database, new DiskSync(database));
        const admitted: number[] = [];
        let nowMs = from;
        for (const [index, { waitMs, rule }] of steps.entries()) {
          nowMs += waitMs;
          const { fromMs, toMs } = spanOf(rule, nowMs);
          const spent = admitted.filter((ms) => ms >= fromMs && ms < toMs).length;
          expect(await spend(ledger, `${index}`, nowMs, rule, `${dollars}`)).toBe(spent < dollars);
          if (spent < dollars) admitted.push(nowMs);
          await ledger.joinOldSpending(nowMs - keptSpendingMs);
        }
        expect(await ledger.groupSpentUsd("grp_1", always)).toBe(`${admitted.length}`);
        const kept = admitted.filter((ms) => ms >= nowMs - keptSpendingMs);
        const { slots } = database.prepare("SELECT count(*) AS slots FROM group_spending").get() as { slots: number }; // one number
        expect(slots).toBeLessThanOrEqual(kept.length + 1);
        ledger[Symbol.dispose]();
      },
    ),
    { numRuns: 25 },
  );
});

test("a clock that was two months ahead has not changed this month's budget", async () => {
  await using folder = new DataFolder();
  const database = folder.open();
  const ledger = new SqliteUsageLedger(database, new DiskSync(database));
  const rule = rules.find(({ period }) => period === "month");
  if (!rule) throw new Error("there is a rule with months");
  expect(await spend(ledger, "one", from, rule, "1")).toBe(true);
  await ledger.joinOldSpending(from + 61 * dayMs - keptSpendingMs);
  expect(await spend(ledger, "two", from + dayMs, rule, "1")).toBe(false);
  ledger[Symbol.dispose]();
});

describe.skipIf(!postgresFolder)("in PostgreSQL (this needs `initdb`)", () => {
  test("two servers that join, open and close at the same time lose and double nothing", async () => {
    await using postgres = await TestPostgres.start();
    const url = postgres.urlOf(await postgres.createDatabase());
    await using first = await openPostgres(url);
    await using second = await openPostgres(url);
    const ledgers = [first.ledger, second.ledger] as const;
    const [whole] = rules;
    if (!whole) throw new Error("there is a rule for all time");
    const spent = Array.from({ length: 120 }, async (_none, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index % 10) * 20));
      return spend(ledgers[index % 2] ?? first.ledger, `${index}`, from + (index % 30) * dayMs, whole, "100");
    });
    const joined = Array.from({ length: 30 }, async (_none, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 8));
      return (ledgers[index % 2] ?? first.ledger).joinOldSpending(from + 20 * dayMs);
    });
    // The budget of all time pays for a hundred of them, however they race.
    expect((await Promise.all(spent)).filter(Boolean)).toHaveLength(100);
    const early = (await Promise.all(joined)).reduce((sum, one) => sum + one);
    expect(early + (await second.ledger.joinOldSpending(from + 20 * dayMs))).toBeGreaterThan(0);
    for (const ledger of ledgers) expect(await ledger.groupSpentUsd("grp_1", always)).toBe("100");
    const rows = await postgres.query(
      "SELECT count(*)::int AS slots, sum(held_usd)::text AS held FROM parley.group_spending WHERE slot < 1000000000",
      new URL(url).pathname.slice(1),
    );
    expect(rows[0]?.["slots"]).toBeLessThanOrEqual(11);
    expect(Number(rows[0]?.["held"])).toBe(0);
  }, 60_000);
});
