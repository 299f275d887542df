import { describe, expect, test } from "vitest";
import { toCaller } from "../auth/find-caller.ts";
import { Reservations } from "./reservations.ts";
import type { Reservation, Shortfall } from "./reservations.ts";

const pricing = { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" };
const caller = toCaller("key", { name: "key", budgetUsd: "1" });
/** 0.001 + 5 × 0.01 + 2 × 0.1 = 0.251 dollars. */
const use = { pricing, promptTokens: 5, n: 1, maxTokens: 2, isMaximumNamed: true };

/** A ledger with the only method that reservations call. */
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

const open = (ledger = makeLedger()): Reservations => new Reservations(ledger, Date.now);

async function hold(reservations: Reservations, changes: Partial<typeof use> = {}): Promise<Reservation> {
  const taken = await reservations.reserve(caller, { ...use, ...changes });
  if ("neededUsd" in taken) throw new Error(`nothing was held: ${JSON.stringify(taken)}`);
  return taken;
}

const isHeld = (taken: Reservation | Shortfall): boolean => "settle" in taken;

describe("a named maximum", () => {
  test("is held in full, by as many concurrent calls as the budget pays for", async () => {
    const reservations = open();
    const taken = await Promise.all(Array.from({ length: 1000 }, () => reservations.reserve(caller, use)));
    expect(taken.filter(isHeld)).toHaveLength(3);
    expect(taken.at(-1)).toEqual({ neededUsd: "0.251", remainingUsd: "0.247", heldUsd: "0.753" });
    expect(reservations.totalUsd).toBe(0.753);
  });

  test("counts for each choice, and the prompt once", async () => {
    expect(await open().reserve(caller, { ...use, n: 8 })).toEqual({
      neededUsd: "1.651",
      remainingUsd: "1",
      heldUsd: "0",
    });
  });

  test("can use up the budget exactly", async () => {
    const exact = { ...caller, budgetUsd: "0.251" };
    expect(isHeld(await open().reserve(exact, use))).toBe(true);
    expect(isHeld(await open().reserve({ ...exact, budgetUsd: "0.2509999" }, use))).toBe(false);
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
    expect(await open().reserve({ ...caller, budgetUsd }, wish)).toMatchObject({ maxTokens });
  });

  test("is not lowered below one token", async () => {
    const wish = { ...use, maxTokens: 1000, isMaximumNamed: false };
    expect(await open().reserve({ ...caller, budgetUsd: "0.15" }, wish)).toEqual({
      neededUsd: "0.151",
      remainingUsd: "0.15",
      heldUsd: "0",
    });
  });
});

test("a price of zero is always admitted, and so is every price of a key without a budget", async () => {
  const free = { prompt: "0", completion: "0", image: "0", request: "0" };
  expect(await open().reserve({ ...caller, budgetUsd: "0" }, { ...use, pricing: free })).toMatchObject({
    maxTokens: 2,
  });
  const reservations = open();
  expect(await reservations.reserve({ ...caller, budgetUsd: undefined }, use)).toMatchObject({ maxTokens: 2 });
  expect(reservations.totalUsd).toBe(0);
});

test("the tighter of two budgets counts", async () => {
  const both = { ...caller, monthlyBudgetUsd: "0.1" };
  expect(await open().reserve(both, use)).toMatchObject({ remainingUsd: "0.1" });
});

describe("the end of a request", () => {
  test("releases what it did not cost, and the cost when the ledger has recorded it", async () => {
    const ledger = makeLedger();
    const reservations = open(ledger);
    const recorded = Promise.withResolvers<void>();
    const running = await hold(reservations);
    running.settle("0.1", recorded.promise);
    expect(reservations.totalUsd).toBe(0.1);
    ledger.spent = "0.1";
    recorded.resolve();
    await recorded.promise;
    expect(reservations.totalUsd).toBe(0);
    running.cancel();
    expect(reservations.totalUsd).toBe(0);
  });

  test("during another request's read of the ledger neither hides its cost nor refuses the other request", async () => {
    const ledger = makeLedger();
    const reservations = open(ledger);
    const running = await hold(reservations, { maxTokens: 9 });
    const other = reservations.reserve(caller, use);
    running.settle("0.7", Promise.resolve());
    ledger.spent = "0.7";
    expect(await other).toMatchObject({ maxTokens: 2 });
    expect(await reservations.reserve(caller, use)).toEqual({
      neededUsd: "0.251",
      remainingUsd: "0.049",
      heldUsd: "0.251",
    });
  });

  test("releases everything if the request did not run", async () => {
    const reservations = open();
    (await hold(reservations)).cancel();
    expect(reservations.totalUsd).toBe(0);
  });
});

test("a failed read of the ledger refuses one request, and the next one is checked again", async () => {
  const ledger = makeLedger();
  const reservations = open(ledger);
  const { spentUsd } = ledger;
  ledger.spentUsd = async () => await Promise.reject(new Error("the disk is gone"));
  await expect(reservations.reserve(caller, use)).rejects.toThrow("the disk is gone");
  ledger.spentUsd = spentUsd;
  expect(isHeld(await reservations.reserve(caller, use))).toBe(true);
});
