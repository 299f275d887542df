import { describe, expect, test } from "vitest";
import type { ApiError } from "../../errors/api-error.ts";
import { toCaller } from "../keys/find-caller.ts";
import type { UsageLedger } from "../ledger/usage-ledger.ts";
import { assertUnspent, tooExpensive } from "./budget-refusals.ts";
import { costBoundOf } from "./budgets.ts";

const pricing = { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" };
/** 0.001 + 5 × 0.01 + 2 × 0.1 = 0.251 dollars. */
const use = { pricing, promptTokens: 5, n: 1, maxTokens: 2, isMaximumNamed: true };
const boundOf = (changes: Partial<typeof use> = {}) => costBoundOf({ ...use, ...changes });

const startedMs = Date.parse("2026-12-31T12:00:00Z");
const team = { id: "grp_1", name: "team", budgetUsd: "7", period: "day", timeZone: "Asia/Kathmandu" } as const;
const budgets = {
  budgetUsd: "10",
  monthlyBudgetUsd: "5.5",
  budgetRaise: { usd: "0.5", untilMs: Date.parse("2027-01-01T12:00:00Z") },
  groups: [{ ...team, fromMs: startedMs, toMs: startedMs }],
};
const raised = { raised_usd: "0.5", raised_until: "2027-01-01T12:00:00.000Z" };

describe("a refusal names the budget that is short, its amount, and when it starts again:", () => {
  test.each([
    [
      "the key's total",
      {},
      "the total budget of this key, 10 US dollars (raised by 0.5 until 2027-01-01T12:00:00.000Z), is left. Running",
      { scope: "key", limit_usd: "10", ...raised, usage_usd: "9.7", remaining_usd: "0.3" },
    ],
    [
      "that of the month",
      { isMonthly: true },
      "the monthly budget of this key, 5.5 US dollars (raised by 0.5 until 2027-01-01T12:00:00.000Z), is left. It starts again on 2027-01-01 00:00 (UTC). Running",
      {
        ...raised,
        scope: "key",
        limit_usd: "5.5",
        usage_usd: "5.2",
        remaining_usd: "0.3",
        period: "month",
        time_zone: "UTC",
        resets_at: "2027-01-01T00:00:00.000Z",
      },
    ],
    [
      "that of the group",
      { groupId: team.id },
      "the budget of the group team for each day, 7 US dollars, is left. It starts again on 2027-01-01 00:00 (Asia/Kathmandu). Running",
      {
        scope: "group",
        name: "team",
        limit_usd: "7",
        usage_usd: "6.7",
        remaining_usd: "0.3",
        period: "day",
        time_zone: "Asia/Kathmandu",
        resets_at: "2026-12-31T18:15:00.000Z",
      },
    ],
  ])("%s", (_which, of, words, budget) => {
    const { message, details } = tooExpensive(boundOf(), { restUsd: "0.2", heldUsd: "0.1", ...of }, budgets, startedMs);
    expect(message).toBe(
      `This request may cost 0.251 US dollars, and 0.2 of ${words} requests hold 0.1; what they do not use comes back when they end. Lower max_completion_tokens, send a shorter prompt, or ask the operator for a larger budget.`,
    );
    expect(details).toEqual({ needed_usd: "0.251", remaining_usd: "0.2", budget });
  });
});

test.each([
  [true, "0.247", "0.753", "0.251", "0.247", "Running requests hold 0.753;"],
  [false, "0.049", "0", "0.151", "0.049", "is left. Lower max_completion_tokens, send"],
  [true, "-0.5", "0", "0.251", "0", "is left. Lower"],
])("a refusal (named maximum: %s, rest %s, held %s) says what is needed", (isNamed, restUsd, heldUsd, ...told) => {
  const [neededUsd, remainingUsd, words] = told;
  const total = { budgetUsd: "5", monthlyBudgetUsd: undefined };
  expect(tooExpensive(boundOf({ isMaximumNamed: isNamed }), { restUsd, heldUsd }, total, 0)).toMatchObject({
    code: "insufficient_quota",
    details: { needed_usd: neededUsd, remaining_usd: remainingUsd },
    message: expect.stringContaining(words) as string, // a matcher takes the place of the text
  });
});

describe("a spent budget", () => {
  const spent: Readonly<Record<string, string>> = { "2026-11": "5", "2026-12": "4.999" };
  /** The only methods of a ledger that `assertUnspent` calls. */
  const ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd"> = {
    spentUsd: async (_keyId, month) => (month === undefined ? "9.999" : (spent[month] ?? "0")),
    groupSpentUsd: async (_groupId, { fromMs }) => (fromMs <= Date.parse("2026-11-30") ? "7" : "0"),
  };
  const monthly = toCaller("key", { name: "key", monthlyBudgetUsd: "5" }, [], 0);
  const messageAt = (now: string, of = monthly): Promise<string | undefined> =>
    assertUnspent(of, ledger, Date.parse(now)).then(
      () => undefined,
      ({ message }: ApiError) => message,
    );

  test.each([
    [
      "2026-11-30T23:59:59.999Z",
      "The monthly budget of this key, 5 US dollars, is spent. It starts again on 2026-12-01 00:00 (UTC), or ask the operator for a larger one.",
    ],
    ["2026-12-01T00:00:00.000Z", undefined],
    ["2027-01-15T12:00:00.000Z", undefined],
  ])("at %s the budget of a month is judged by that month", async (now, message) => {
    expect(await messageAt(now)).toBe(message);
  });

  test.each([
    [
      { period: "month", timeZone: "America/New_York" },
      "The budget of the group team for each month, 7 US dollars, is spent. It starts again on 2026-12-01 00:00 (America/New_York), or ask the operator for a larger one.",
    ],
    [
      { period: "day", timeZone: "America/New_York" },
      "The monthly budget of this key, 5 US dollars, is spent. It starts again on 2026-12-01 00:00 (UTC), or ask the operator for a larger one.",
    ],
    [{}, "The budget of the group team, 7 US dollars, is spent. Ask the operator for a larger one."],
  ] as const)(
    "of several, the one that starts again last is told: the month of the key and %j of its group",
    async (rules, message) => {
      const group = { id: team.id, name: "team", budgetUsd: "7", ...rules };
      const { groups } = toCaller("key", { name: "key" }, [group], 0);
      expect(await messageAt("2026-11-29T12:00Z", { ...monthly, groups })).toBe(message);
    },
  );

  test("the total budget is checked first, because it does not renew", async () => {
    expect(await messageAt("2026-11-15", { ...monthly, budgetUsd: "9.999" })).toBe(
      "The total budget of this key, 9.999 US dollars, is spent. Ask the operator for a larger one.",
    );
  });
});
