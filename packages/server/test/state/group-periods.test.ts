import { array, assert, asyncProperty, constantFrom, integer, nat, record } from "fast-check";
import { expect, test } from "vitest";
import { spanOf } from "../../src/accounts/money/budgets.ts";
import { periods } from "../../src/accounts/money/period.ts";
import type { Period } from "../../src/accounts/money/period.ts";
import { DiskSync } from "../../src/state/disk-sync.ts";
import { SqliteUsageLedger } from "../../src/state/sqlite-usage-ledger.ts";
import { DataFolder } from "./data-folder.ts";

/** Zones whose clocks change in these months, at midnight or by half an hour, and zones that are a fraction of an hour off. */
const zones = ["America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Beirut", "Asia/Kathmandu", "Europe/Berlin", "UTC"];
const from = Date.parse("2018-10-20");
const pricing = { prompt: "0", completion: "0", image: "0", request: "0" };
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 };
const bound = { fixedUsd: "1", perTokenUsd: "0", maxTokens: 1, isMaximumNamed: true };

/** A request of one dollar, in a group with these rules at that time. */
interface Step {
  readonly startedMs: number;
  readonly period: Period;
  readonly timeZone: string;
}

/** Returns the period of a step as the clocks of its zone name it: by a date, not by its first millisecond. */
function nameOf(ms: number, { period, timeZone }: Step): string {
  const date = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short" }).format(ms);
  if (period !== "week") return period === "day" ? date : date.slice(0, 7);
  const sinceMonday = (new Date(date).getUTCDay() + 6) % 7;
  return new Date(Date.parse(date) - sinceMonday * 86_400_000).toISOString().slice(0, 10);
}

test("whatever the operator and the clock do, a budget is what the clocks of its zone say: never reset late, early or twice", async () => {
  const step = record({
    startedMs: integer({ min: from, max: from + 45 * 86_400_000 }),
    period: constantFrom(...periods),
    timeZone: constantFrom(...zones),
  });
  await assert(
    asyncProperty(
      array(step, { minLength: 2, maxLength: 25 }),
      integer({ min: 1, max: 4 }),
      nat(3),
      async (steps, dollars, open) => {
        await using folder = new DataFolder();
        const database = folder.open();
        const ledger = new SqliteUsageLedger(database, new DiskSync(database));
        const admitted: number[] = [];
        for (const [index, one] of steps.entries()) {
          const group = {
            id: "grp_1",
            name: "group",
            budgetUsd: String(dollars),
            ...one,
            ...spanOf(one, one.startedMs),
          };
          const row = { id: `${index}`, keyId: "key", model: "m", isStream: false, startedMs: one.startedMs, pricing };
          const budgets = { budgetUsd: undefined, monthlyBudgetUsd: undefined, groups: [group] };
          const got = await ledger.open({ ...row, groupIds: [group.id] }, { budgets, bound });
          const spent = admitted.filter((ms) => nameOf(ms, one) === nameOf(one.startedMs, one)).length;
          expect(got !== undefined && "maxTokens" in got).toBe(spent < dollars);
          if (spent >= dollars) continue;
          admitted.push(one.startedMs);
          // Some requests run on until the end, and end much later.
          if (index % 4 <= open) continue;
          const end = { usage, outcome: "complete", errorCode: undefined, costUsd: "1" } as const;
          await ledger.close({ ...end, id: row.id, keyId: row.keyId, endedMs: one.startedMs + 40 * 86_400_000 });
        }
        ledger[Symbol.dispose]();
      },
    ),
    { numRuns: 25 },
  );
});
