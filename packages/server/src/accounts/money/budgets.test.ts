import { describe, expect, test } from "vitest";
import { toCaller } from "../keys/find-caller.ts";
import type { ApiError } from "../../errors/api-error.ts";
import { Budgets } from "./budgets.ts";
import type { MoneyLease } from "./budgets.ts";
import type { UsageLedger } from "../ledger/usage-ledger.ts";

const pricing = { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" };
const caller = toCaller("key", { name: "key", budgetUsd: "1" });
/** 0.001 + 5 × 0.01 + 2 × 0.1 = 0.251 dollars. */
const use = { pricing, promptTokens: 5, n: 1, maxTokens: 2, isMaximumNamed: true };

/** A ledger with the only method that `Budgets` calls. */
function makeLedger(): { spent: string; spentUsd: () => Promise<string> } {
  const ledger = {
    spent: "0",
    spentUsd: async () => {
      const { spent } = ledger;
      await new Promise((resolve) => setImmediate(resolve)); // as slow as a database on the network
      return spent;
    },
  };
  return ledger;
}

const never = new Promise<void>(() => undefined);
const open = (ledger = makeLedger()): Budgets => new Budgets(ledger, Date.now);

const hold = (budgets: Budgets, changes: Partial<typeof use> = {}, recorded = never): Promise<MoneyLease> =>
  budgets.hold(caller, { ...use, ...changes }, recorded);

/** The refusal with these amounts. A message names the held money only if there is some. */
const refusal = (neededUsd: string, remainingUsd: string, heldUsd: string): object => ({
  code: "insufficient_quota",
  details: { needed_usd: neededUsd, remaining_usd: remainingUsd },
  message: expect.stringContaining(
    heldUsd === "0" ? "budget is left. Lower" : `Running requests hold ${heldUsd};`,
  ) as string, // a matcher takes the place of the text
});

describe("a named maximum", () => {
  test("is held in full, by as many concurrent calls as the budget pays for", async () => {
    const budgets = open();
    const taken = await Promise.allSettled(Array.from({ length: 1000 }, () => hold(budgets)));
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(taken.at(-1)).toMatchObject({ reason: refusal("0.251", "0.247", "0.753") });
    expect(budgets.heldUsd).toBe(0.753);
  });

  test("counts for each choice, and the prompt once", async () => {
    await expect(hold(open(), { n: 8 })).rejects.toMatchObject(refusal("1.651", "1", "0"));
  });

  test("can use up the budget exactly", async () => {
    const exact = { ...caller, budgetUsd: "0.251" };
    expect(await open().hold(exact, use, never)).toMatchObject({ maxTokens: 2 });
    const less = { ...exact, budgetUsd: "0.2509999" };
    await expect(open().hold(less, use, never)).rejects.toMatchObject({ code: "insufficient_quota" });
  });
});

describe("a default maximum", () => {
  test.each([
    ["1", 1, 9],
    ["1", 2, 4],
    ["0.251", 1, 2],
    ["0.25099999999999999999999", 1, 1],
  ])("with %s dollars and %i choices is lowered to %i tokens", async (budgetUsd, n, maxTokens) => {
    const wish = { ...use, n, maxTokens: 1000, isMaximumNamed: false };
    expect(await open().hold({ ...caller, budgetUsd }, wish, never)).toMatchObject({ maxTokens });
  });

  test("is not lowered below one token", async () => {
    const wish = { ...use, maxTokens: 1000, isMaximumNamed: false };
    const poor = { ...caller, budgetUsd: "0.15" };
    await expect(open().hold(poor, wish, never)).rejects.toMatchObject(refusal("0.151", "0.15", "0"));
  });
});

test("a price of zero is always admitted, and so is every price of a key without a budget", async () => {
  const free = { prompt: "0", completion: "0", image: "0", request: "0" };
  const broke = { ...caller, budgetUsd: "0" };
  expect(await open().hold(broke, { ...use, pricing: free }, never)).toMatchObject({ maxTokens: 2 });
  const budgets = open();
  expect(await budgets.hold({ ...caller, budgetUsd: undefined }, use, never)).toMatchObject({ maxTokens: 2 });
  expect(budgets.heldUsd).toBe(0);
});

test("the tighter of two budgets counts", async () => {
  const both = { ...caller, monthlyBudgetUsd: "0.1" };
  await expect(open().hold(both, use, never)).rejects.toMatchObject(refusal("0.251", "0.1", "0"));
});

describe("the end of a request", () => {
  test("releases what it did not cost, and the cost when the ledger has recorded it", async () => {
    const ledger = makeLedger();
    const budgets = open(ledger);
    const recorded = Promise.withResolvers<void>();
    const running = await hold(budgets, {}, recorded.promise);
    running.commit({ costUsd: "0.1" });
    expect(budgets.heldUsd).toBe(0.1);
    ledger.spent = "0.1";
    recorded.resolve();
    await recorded.promise;
    expect(budgets.heldUsd).toBe(0);
  });

  test("during another request's read of the ledger neither hides its cost nor refuses the other request", async () => {
    const ledger = makeLedger();
    const budgets = open(ledger);
    const running = await hold(budgets, { maxTokens: 9 }, Promise.resolve());
    const other = hold(budgets);
    running.commit({ costUsd: "0.7" });
    ledger.spent = "0.7";
    expect(await other).toMatchObject({ maxTokens: 2 });
    await expect(hold(budgets)).rejects.toMatchObject(refusal("0.251", "0.049", "0.251"));
  });

  test("releases everything if the request did not run", async () => {
    const budgets = open();
    (await hold(budgets)).rollback();
    expect(budgets.heldUsd).toBe(0);
  });
});

test("a failed read of the ledger refuses one request, and the next one is checked again", async () => {
  const ledger = makeLedger();
  const budgets = open(ledger);
  const { spentUsd } = ledger;
  ledger.spentUsd = async () => await Promise.reject(new Error("the disk is gone"));
  await expect(hold(budgets)).rejects.toThrow("the disk is gone");
  ledger.spentUsd = spentUsd;
  expect(await hold(budgets)).toMatchObject({ maxTokens: 2 });
});

describe("a spent budget", () => {
  const spent: Readonly<Record<string, string>> = { "2026-11": "5", "2026-12": "4.999" };
  /** The only method of a ledger that `assertUnspent` calls. */
  const ledger: Pick<UsageLedger, "spentUsd"> = {
    spentUsd: async (_keyId, month) => (month === undefined ? "9.999" : (spent[month] ?? "0")),
  };
  const monthly = toCaller("key", { name: "key", monthlyBudgetUsd: "5" });
  const messageAt = (now: string, of = monthly): Promise<string | undefined> =>
    new Budgets(ledger, () => Date.parse(now)).assertUnspent(of).then(
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

  test("the total budget is checked first, because it does not renew", async () => {
    expect(await messageAt("2026-11-15", { ...monthly, budgetUsd: "9.999" })).toBe(
      "The budget of this key, 9.999 US dollars, is spent. Ask the operator for a larger one.",
    );
  });
});
