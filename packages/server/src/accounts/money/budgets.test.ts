import { Big } from "big.js";
import { describe, expect, test } from "vitest";
import { toCaller } from "../keys/find-caller.ts";
import type { ApiError } from "../../errors/api-error.ts";
import { affordableTokens, assertUnspent, budgetsOf, costBoundOf, costOf, tooExpensive } from "./budgets.ts";
import type { UsageLedger } from "../ledger/usage-ledger.ts";

const pricing = { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" };
/** 0.001 + 5 × 0.01 + 2 × 0.1 = 0.251 dollars. */
const use = { pricing, promptTokens: 5, n: 1, maxTokens: 2, isMaximumNamed: true };
const boundOf = (changes: Partial<typeof use> = {}) => costBoundOf({ ...use, ...changes });

describe("the maximum cost", () => {
  test.each([
    [1, "0.251"],
    [8, "1.651"],
  ])("with %i choices counts the prompt once: %s dollars", (n, usd) => {
    expect(costOf(boundOf({ n }), use.maxTokens).toFixed()).toBe(usd);
  });

  test.each([
    ["a named maximum", true, "0.251", 1, 2],
    ["a named maximum that is a digit too expensive", true, "0.25099999999999999999999", 1, 0],
    ["a named maximum without a rest", true, "-1", 1, 0],
    ["a default", false, "1", 1, 9],
    ["a default with two choices", false, "1", 2, 4],
    ["a default a digit below two tokens", false, "0.25099999999999999999999", 1, 1],
    ["a default below one token", false, "0.15", 1, 0],
  ])("%s (named: %s), of %s dollars with %i choices: %i tokens", (_case, isMaximumNamed, rest, n, tokens) => {
    const maxTokens = isMaximumNamed ? 2 : 1000;
    expect(affordableTokens(boundOf({ n, maxTokens, isMaximumNamed }), new Big(rest))).toBe(tokens);
  });

  test("of a model without prices is paid by a rest of zero", () => {
    const free = { prompt: "0", completion: "0", image: "0", request: "0" };
    expect(affordableTokens(boundOf({ pricing: free }), new Big(0))).toBe(2);
    expect(affordableTokens(boundOf({ pricing: free }), new Big("-0.1"))).toBe(0);
  });
});

test("a key without a budget has nothing to hold against", () => {
  const caller = toCaller("key", { name: "key" }, [], 0);
  expect(budgetsOf(caller, 0)).toBeUndefined();
  expect(budgetsOf({ ...caller, monthlyBudgetUsd: "5" }, 0)).toEqual({ budgetUsd: undefined, monthlyBudgetUsd: "5" });
});

const team = { id: "grp_1", name: "team", budgetUsd: "7", period: "day", timeZone: "Asia/Kathmandu" } as const;
const company = { id: "grp_2", name: "company", budgetUsd: undefined, period: undefined, timeZone: undefined };

test("the periods of a key's groups are those that contain the start of the request", () => {
  const caller = toCaller("key", { name: "key" }, [team, company], 0);
  expect(budgetsOf(caller, Date.parse("2026-11-27T18:14:59.999Z"))).toEqual({
    budgetUsd: undefined,
    monthlyBudgetUsd: undefined,
    groups: [
      { ...team, fromMs: Date.parse("2026-11-26T18:15Z"), toMs: Date.parse("2026-11-27T18:15Z") },
      { ...company, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    ],
  });
  expect(budgetsOf({ ...caller, groups: [company] }, 0)).toBeUndefined();
});

test("a refusal by the budget of a group names it, its period, and when it starts again", () => {
  const groups = [{ ...team, fromMs: 0, toMs: Date.parse("2026-11-27T18:15Z") }];
  const shortage = { restUsd: "0.2", heldUsd: "0", groupId: team.id };
  expect(tooExpensive(boundOf(), shortage, { groups }, 0)).toMatchObject({
    message:
      "This request may cost 0.251 US dollars, and 0.2 of the budget of the group team for each day is left. It starts again on 2026-11-28 00:00 (Asia/Kathmandu). Lower max_completion_tokens, send a shorter prompt, or ask the operator for a larger budget.",
    details: { needed_usd: "0.251", remaining_usd: "0.2", budget: { of: "group", name: "team", period: "day" } },
  });
});

test.each([
  [true, "0.247", "0.753", "0.251", "0.247", "Running requests hold 0.753;"],
  [false, "0.049", "0", "0.151", "0.049", "budget is left. Lower max_completion_tokens, send"],
  [true, "-0.5", "0", "0.251", "0", "budget is left. Lower"],
])("a refusal (named maximum: %s, rest %s, held %s) says what is needed", (isNamed, restUsd, heldUsd, ...told) => {
  const [neededUsd, remainingUsd, words] = told;
  expect(tooExpensive(boundOf({ isMaximumNamed: isNamed }), { restUsd, heldUsd }, { budgetUsd: "5" }, 0)).toMatchObject(
    {
      code: "insufficient_quota",
      details: { needed_usd: neededUsd, remaining_usd: remainingUsd },
      message: expect.stringContaining(words) as string, // a matcher takes the place of the text
    },
  );
});

test("a refusal by the monthly budget of a key says when it starts again", () => {
  const refusal = tooExpensive(
    boundOf(),
    { restUsd: "0.2", heldUsd: "0" },
    { monthlyBudgetUsd: "5" },
    Date.parse("2026-12-31"),
  );
  expect(refusal.message).toContain(
    "0.2 of the key's monthly budget is left. It starts again on 2027-01-01 (UTC). Lower",
  );
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
      "The monthly budget of this key, 5 US dollars, is spent. It starts again on 2026-12-01 (UTC), or ask the operator for a larger one.",
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
      "The monthly budget of this key, 5 US dollars, is spent. It starts again on 2026-12-01 (UTC), or ask the operator for a larger one.",
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
      "The budget of this key, 9.999 US dollars, is spent. Ask the operator for a larger one.",
    );
  });
});
