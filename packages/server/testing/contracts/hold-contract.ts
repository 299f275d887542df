import assert from "node:assert/strict";
import type {
  CloseRecord,
  Hold,
  HoldRequest,
  OpenRecord,
  UsageLedger,
} from "../../src/accounts/ledger/usage-ledger.ts";
import type { ContractCase } from "./contract-case.ts";
import type { UsageLedgerSubject } from "./usage-ledger-contract.ts";

const november = Date.parse("2026-11-15T12:00:00Z");
const opened = (id: string, startedMs = november): OpenRecord => ({
  id,
  keyId: "key",
  model: "vendor/model-1",
  isStream: false,
  startedMs,
  pricing: { prompt: "0.01", completion: "0.1", image: "0", request: "0.001" },
});
/** 0.051 + 2 × 0.1 = 0.251 dollars, of a budget of one dollar. */
const bound = { fixedUsd: "0.051", perTokenUsd: "0.1", maxTokens: 2, isMaximumNamed: true };
const budgets = { budgetUsd: "1", monthlyBudgetUsd: undefined };
const dollar: HoldRequest = { budgets, bound };
const held: Hold = { maxTokens: 2, heldUsd: "0.251" };

const closed = (id: string, costUsd: string, endedMs = november): CloseRecord => ({
  id,
  keyId: "key",
  usage: { promptTokens: 5, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 },
  outcome: "complete",
  errorCode: undefined,
  costUsd,
  endedMs,
});

/** Opens entries at the same time. @returns the number that the budget pays for */
async function openMany(ledger: UsageLedger, count: number, name = "request"): Promise<number> {
  const ids = Array.from({ length: count }, (_none, index) => `${name} ${index}`);
  const all = await Promise.all(ids.map((id) => ledger.open(opened(id), dollar)));
  return all.filter((one) => one && "maxTokens" in one).length;
}

/** The cases about the money that open entries hold. */
export const holdContract: readonly ContractCase<UsageLedgerSubject>[] = [
  {
    title: "holds the maximum cost for as many racing requests as the budget pays for, and for no more",
    assert: async ({ ledger }) => {
      assert.equal(await openMany(ledger, 1000), 3);
      const shortage = { restUsd: "0.247", heldUsd: "0.753" };
      assert.deepEqual(await ledger.open(opened("another"), dollar), shortage);
      assert.equal(await ledger.find("another"), undefined);
      assert.equal(await ledger.spentUsd("key"), "0");
    },
  },
  {
    title: "lets a budget be used up to its last digit",
    assert: async ({ ledger }) => {
      const pays = (budgetUsd: string): HoldRequest => ({ bound, budgets: { ...budgets, budgetUsd } });
      const shortage = { restUsd: "0.2509999999999999999999", heldUsd: "0" };
      assert.deepEqual(await ledger.open(opened("one"), pays("0.2509999999999999999999")), shortage);
      assert.deepEqual(await ledger.open(opened("one"), pays("0.251")), held);
    },
  },
  {
    title: "lowers a default maximum to the tokens that the rest pays for, and refuses less than one",
    assert: async ({ ledger }) => {
      const wish: HoldRequest = { budgets, bound: { ...bound, maxTokens: 1000, isMaximumNamed: false } };
      assert.deepEqual(await ledger.open(opened("one"), wish), { maxTokens: 9, heldUsd: "0.951" });
      assert.deepEqual(await ledger.open(opened("two"), wish), { restUsd: "0.049", heldUsd: "0.951" });
    },
  },
  {
    title: "releases a hold when its entry is closed, and adds the cost in the same step",
    assert: async ({ ledger }) => {
      assert.equal(await openMany(ledger, 3), 3);
      const closing = ledger.close(closed("request 0", "0.1"));
      // This call is before or after the close, never between its charge and its release.
      const next = await ledger.open(opened("next"), dollar);
      await closing;
      const isBefore = next !== undefined && "restUsd" in next;
      assert.deepEqual(next, isBefore ? { restUsd: "0.247", heldUsd: "0.753" } : held);
      if (isBefore) assert.deepEqual(await ledger.open(opened("next"), dollar), held);
      assert.deepEqual(await ledger.open(opened("more"), dollar), { restUsd: "0.147", heldUsd: "0.753" });
      await ledger.close(closed("request 0", "0.1"));
      assert.deepEqual(await ledger.open(opened("more"), dollar), { restUsd: "0.147", heldUsd: "0.753" });
    },
  },
  {
    title: "withdraws an entry without a trace, once, and never a closed one",
    assert: async ({ ledger }) => {
      assert.equal(await openMany(ledger, 3), 3);
      await Promise.all([1, 2, 3].map(() => ledger.withdraw("request 0")));
      await ledger.withdraw("nobody");
      assert.equal(await ledger.find("request 0"), undefined);
      assert.deepEqual(await ledger.open(opened("next"), dollar), held);
      assert.deepEqual(await ledger.open(opened("more"), dollar), { restUsd: "0.247", heldUsd: "0.753" });
      await ledger.close(closed("request 1", "0.2"));
      await ledger.withdraw("request 1");
      assert.equal(await ledger.spentUsd("key"), "0.2");
      assert.notEqual(await ledger.find("request 1"), undefined);
    },
  },
  {
    title: "checks the tighter of two budgets, and that of the month by the start of the request",
    assert: async ({ ledger }) => {
      const both: HoldRequest = { bound, budgets: { budgetUsd: "1", monthlyBudgetUsd: "0.3" } };
      const december = Date.parse("2026-12-01T00:00:00Z");
      assert.deepEqual(await ledger.open(opened("one"), both), held);
      await ledger.close(closed("one", "0.25"));
      const short = { restUsd: "0.05", heldUsd: "0", isMonthly: true };
      assert.deepEqual(await ledger.open(opened("two", december - 1), both), short);
      assert.deepEqual(await ledger.open(opened("two", december), both), held);
      assert.deepEqual(await ledger.open(opened("three", december), both), {
        restUsd: "0.049",
        heldUsd: "0.251",
        isMonthly: true,
      });
      const equal: HoldRequest = { bound, budgets: { budgetUsd: "0.5", monthlyBudgetUsd: "0.25" } };
      assert.deepEqual(await ledger.open(opened("four", december), equal), { restUsd: "-0.001", heldUsd: "0.251" });
      const monthly: HoldRequest = { bound, budgets: { budgetUsd: undefined, monthlyBudgetUsd: "0.25" } };
      assert.deepEqual(await ledger.open(opened("four", december), monthly), {
        restUsd: "-0.001",
        heldUsd: "0.251",
        isMonthly: true,
      });
    },
  },
  {
    title: "holds nothing for a key without a budget, and keeps the keys apart",
    assert: async ({ ledger }) => {
      assert.equal(await ledger.open(opened("one")), undefined);
      assert.equal(await openMany(ledger, 9), 3);
      assert.deepEqual(await ledger.open({ ...opened("other"), keyId: "another" }, dollar), held);
    },
  },
  {
    title: "keeps the holds of a dead server until its entries are closed",
    assert: async ({ ledger, restart }) => {
      assert.equal(await openMany(ledger, 9), 3);
      const successor = await restart();
      assert.deepEqual(await successor.open(opened("next"), dollar), { restUsd: "0.247", heldUsd: "0.753" });
      for (const { id } of await successor.abandoned()) await successor.close(closed(id, "0"));
      assert.equal(await openMany(successor, 9, "later"), 3);
    },
  },
  {
    title: "holds nothing if the entry cannot be written",
    assert: async ({ ledger, refuseWrites }) => {
      await ledger.open(opened("one"));
      await assert.rejects(ledger.open(opened("one"), dollar));
      await refuseWrites(true);
      await assert.rejects(ledger.open(opened("two"), dollar));
      await refuseWrites(false);
      assert.equal(await openMany(ledger, 9), 3);
    },
  },
];
