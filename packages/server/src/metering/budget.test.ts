import { expect, test } from "vitest";
import { toCaller } from "../auth/find-caller.ts";
import { findSpentBudget } from "./budget.ts";
import type { UsageLedger } from "./usage-ledger.ts";

const caller = toCaller("key", { name: "key", monthlyBudgetUsd: "5" });
const spent: Readonly<Record<string, string>> = { "2026-11": "5", "2026-12": "4.999" };
/** The only method of a ledger that `findSpentBudget` calls. */
const ledger = { spentUsd: async (_keyId, month) => (month === undefined ? "9.999" : (spent[month] ?? "0")) } as Pick<
  UsageLedger,
  "spentUsd"
>;

test.each([
  ["2026-11-30T23:59:59.999Z", { amountUsd: "5", renewsMs: Date.parse("2026-12-01") }],
  ["2026-12-01T00:00:00.000Z", undefined],
  ["2027-01-15T12:00:00.000Z", undefined],
])("at %s the budget of a month is judged by that month", async (now, found) => {
  expect(await findSpentBudget(caller, ledger, Date.parse(now))).toEqual(found);
});

test("the total budget is checked first, because it does not renew", async () => {
  const both = { ...caller, budgetUsd: "9.999" };
  expect(await findSpentBudget(both, ledger, Date.parse("2026-11-15"))).toEqual({
    amountUsd: "9.999",
    renewsMs: undefined,
  });
});
