import { Big } from "big.js";
import { describe, expect, test } from "vitest";
import { toCaller } from "../keys/find-caller.ts";
import { affordableTokens, budgetsOf, costBoundOf, costOf } from "./budgets.ts";

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
