import assert from "node:assert/strict";
import type {
  Checkpoint,
  CloseRecord,
  LedgerEntry,
  OpenRecord,
  UsageLedger,
} from "../../src/accounts/ledger/usage-ledger.ts";
import { groupings, sumUsage } from "../../src/accounts/ledger/sum-usage.ts";
import type { ContractCase } from "./contract-case.ts";
import { groupBudgetContract } from "./group-budget-contract.ts";
import { holdContract } from "./hold-contract.ts";
import { oldSpendingContract } from "./old-spending-contract.ts";

/** One empty ledger. */
export interface UsageLedgerSubject {
  readonly ledger: UsageLedger;
  /** Simulates that the server dies and its successor opens the ledger. `ledger` must not be used afterwards. */
  readonly restart: () => Promise<UsageLedger>;
  /** Makes the store read-only, or writable again. */
  readonly refuseWrites: (isRefused: boolean) => Promise<void>;
}

const opened = (id: string, startedMs = 1000): OpenRecord => ({
  id,
  keyId: "key",
  model: "vendor/model-1",
  isStream: true,
  startedMs,
  pricing: { prompt: "0.0000003", completion: "0.0000006", image: "0", request: "0.001" },
});
const none = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const some = { promptTokens: 11, cachedTokens: 3, completionTokens: 7, reasoningTokens: 5 };
const more = { promptTokens: 11, cachedTokens: 3, completionTokens: 9, reasoningTokens: 5 };
const closed = (id: string, costUsd = "0.1"): CloseRecord => ({
  id,
  keyId: "key",
  usage: more,
  outcome: "failed",
  errorCode: "timeout",
  costUsd,
  endedMs: 3000,
});
const openEntry = (record: OpenRecord, usage = none): LedgerEntry => ({
  ...record,
  usage,
  costUsd: "0",
  outcome: "open",
  errorCode: undefined,
  endedMs: undefined,
});
const closedEntry = (record: OpenRecord, by: CloseRecord): LedgerEntry => ({ ...record, ...by });

async function listed(ledger: UsageLedger, ...selected: Parameters<UsageLedger["entries"]>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of ledger.entries(...selected)) ids.push(id);
  return ids;
}

const one = opened("one");
const two = opened("two");

/** The cases that every `UsageLedger` must pass. */
export const usageLedgerContract: readonly ContractCase<UsageLedgerSubject>[] = [
  {
    title: "opens an entry, brings it up to date, and closes it",
    assert: async ({ ledger }) => {
      await ledger.open(one);
      assert.deepEqual(await ledger.find("one"), openEntry(one));
      await ledger.checkpoint([{ id: "one", usage: some }]);
      assert.deepEqual(await ledger.find("one"), openEntry(one, some));
      await ledger.close(closed("one"));
      assert.deepEqual(await ledger.find("one"), closedEntry(one, closed("one")));
    },
  },
  {
    title: "closes an entry without an error",
    assert: async ({ ledger }) => {
      await ledger.open({ ...one, isStream: false });
      const whole: CloseRecord = { ...closed("one"), outcome: "complete", errorCode: undefined };
      await ledger.close(whole);
      assert.deepEqual(await ledger.find("one"), closedEntry({ ...one, isStream: false }, whole));
    },
  },
  {
    title: "finds nothing for an id that is not there",
    assert: async ({ ledger }) => assert.equal(await ledger.find("nobody"), undefined),
  },
  {
    title: "rejects an id that is taken, and keeps the entry that has it",
    assert: async ({ ledger }) => {
      await ledger.open(one);
      await assert.rejects(ledger.open({ ...one, keyId: "another" }));
      assert.deepEqual(await ledger.find("one"), openEntry(one));
    },
  },
  {
    title: "goes through all entries by their start, then by id",
    assert: async ({ ledger }) => {
      for (const record of [opened("b", 20), opened("c", 10), opened("a", 20)]) await ledger.open(record);
      await ledger.close(closed("c"));
      assert.deepEqual(await listed(ledger), ["c", "a", "b"]);
    },
  },
  {
    title: "goes through the entries that are selected, in either order",
    assert: async ({ ledger }) => {
      await ledger.open(opened("a", 10));
      await ledger.open({ ...opened("b", 20), keyId: "another", model: "vendor/model-1-mini" });
      await ledger.open(opened("c", 30));
      await ledger.close(closed("c"));
      assert.deepEqual(await listed(ledger, { sinceMs: 20 }), ["b", "c"]);
      assert.deepEqual(await listed(ledger, { untilMs: 20 }), ["a"]);
      assert.deepEqual(await listed(ledger, { keyId: "key" }), ["a", "c"]);
      assert.deepEqual(await listed(ledger, { model: "vendor/model-1-mini" }), ["b"]);
      assert.deepEqual(await listed(ledger, { outcome: "open", keyId: "key" }), ["a"]);
      assert.deepEqual(await listed(ledger, { errorCode: "timeout" }), ["c"]);
      assert.deepEqual(await listed(ledger, { endedBeforeMs: 3001 }), ["c"]);
      assert.deepEqual(await listed(ledger, {}, "newest first"), ["c", "b", "a"]);
    },
  },
  {
    title: "adds up entries by key, model or day of UTC, exactly, however small or large the amounts are",
    assert: async ({ ledger }) => {
      const dayMs = 86_400_000;
      const costs = ["0.1", "0.2", "1000000.0000001", "3", "0", "0.0000000001", "0.00000000000000000000001"];
      for (const [index, costUsd] of costs.entries()) {
        const key = `key-${index % 3}`;
        await ledger.open({ ...opened(`${index}`, dayMs * (index % 2) + 5), keyId: key, model: `m/${index % 4}` });
        await ledger.close({ ...closed(`${index}`, costUsd), keyId: key });
      }
      await ledger.open({ ...opened("running"), keyId: "key-0" });
      await ledger.checkpoint([{ id: "running", usage: some }]);
      for (const by of groupings)
        for (const selection of [
          {},
          { keyId: "key-0" },
          { sinceMs: dayMs },
          { outcome: "open" },
          { keyId: "nobody" },
        ] as const)
          assert.deepEqual(await ledger.sum(selection, by), await sumUsage(ledger.entries(selection), by));
      const [[day, sums] = []] = await ledger.sum({ keyId: "key-1", untilMs: dayMs }, "day");
      assert.deepEqual([day, sums?.requests, sums?.cost_usd], ["1970-01-01", 1, "0"]);
    },
  },
  {
    title: "tells what all keys have spent, ever and in a month",
    assert: async ({ ledger }) => {
      for (const [id, costUsd] of [
        ["a", "0.10"],
        ["b", "0.0000001"],
      ] as const) {
        await ledger.open({ ...opened(id), keyId: id });
        await ledger.close({ ...closed(id, costUsd), keyId: id });
      }
      const spent = { a: "0.1", b: "0.0000001" };
      assert.deepEqual(Object.fromEntries(await ledger.spentByKey()), spent);
      assert.deepEqual(Object.fromEntries(await ledger.spentByKey("1970-01")), spent);
      assert.deepEqual(Object.fromEntries(await ledger.spentByKey("1970-02")), {});
    },
  },
  {
    title: "prunes closed entries that ended before a time, and keeps what their keys have spent",
    assert: async ({ ledger }) => {
      for (const record of [one, two, opened("running")]) await ledger.open(record);
      await ledger.close({ ...closed("one", "0.25"), endedMs: 2000 });
      await ledger.close({ ...closed("two", "0.5"), endedMs: 3000 });
      assert.equal(await ledger.prune(3000), 1);
      assert.deepEqual(await listed(ledger), ["running", "two"]);
      assert.equal(await ledger.prune(3000), 0);
      assert.equal(await ledger.spentUsd("key"), "0.75");
      assert.equal(await ledger.spentUsd("key", "1970-01"), "0.75");
    },
  },
  {
    title: "passes over a checkpoint of an entry that is closed or unknown",
    assert: async ({ ledger }) => {
      for (const record of [one, two]) await ledger.open(record);
      await ledger.close(closed("one"));
      await ledger.checkpoint(["one", "nobody", "two"].map((id): Checkpoint => ({ id, usage: some })));
      assert.deepEqual(await ledger.find("one"), closedEntry(one, closed("one")));
      assert.deepEqual(await ledger.find("two"), openEntry(two, some));
      assert.deepEqual(await listed(ledger), ["one", "two"]);
    },
  },
  {
    title: "closes an entry once, however often and however many at a time it is told to",
    assert: async ({ ledger }) => {
      await ledger.open(one);
      await ledger.close(closed("one", "0.25"));
      await Promise.all(Array.from({ length: 20 }, () => ledger.close(closed("one", "1"))));
      await ledger.close(closed("nobody", "1"));
      assert.equal(await ledger.spentUsd("key"), "0.25");
      assert.deepEqual(await ledger.find("one"), closedEntry(one, closed("one", "0.25")));
    },
  },
  {
    title: "adds up what a key has spent exactly, and of closed entries only",
    assert: async ({ ledger }) => {
      const ids = Array.from({ length: 20 }, (_none, index) => `small-${index}`);
      await Promise.all(["large", "running", ...ids].map((id) => ledger.open(opened(id))));
      await ledger.open({ ...opened("other"), keyId: "another" });
      await ledger.checkpoint([{ id: "running", usage: some }]);
      await ledger.open({ ...opened("other-running"), keyId: "another" });
      await ledger.close(closed("large", "1000000"));
      const others = [{ ...closed("other", "0.3"), keyId: "another" }];
      await Promise.all([...ids.map((id) => closed(id, "0.0000001")), ...others].map((record) => ledger.close(record)));
      assert.equal(await ledger.spentUsd("key"), "1000000.000002");
      assert.equal(await ledger.spentUsd("another"), "0.3");
      assert.equal(await ledger.spentUsd("nobody"), "0");
    },
  },
  {
    title: "adds up what a key has spent in each month of UTC, by the ends of its entries",
    assert: async ({ ledger }) => {
      const ends = ["2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.000Z", "2026-11-30T23:59:59.999Z"];
      for (const [index, end] of ends.entries()) {
        await ledger.open(opened(`${index}`, Date.parse("2026-10-31T23:59:00Z")));
        await ledger.close({ ...closed(`${index}`, `0.${index + 1}`), endedMs: Date.parse(end) });
      }
      assert.equal(await ledger.spentUsd("key", "2026-10"), "0.1");
      assert.equal(await ledger.spentUsd("key", "2026-11"), "0.5");
      assert.equal(await ledger.spentUsd("key", "2026-12"), "0");
      assert.equal(await ledger.spentUsd("key"), "0.6");
    },
  },
  {
    title: "tells the successor of a dead server which entries it left open, with what was last known of them",
    assert: async ({ ledger, restart }) => {
      for (const record of [one, two, opened("three")]) await ledger.open(record);
      await ledger.checkpoint([{ id: "two", usage: some }]);
      await ledger.close(closed("three"));
      const successor = await restart();
      const left = await successor.abandoned();
      assert.deepEqual(
        left.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        [openEntry(one), openEntry(two, some)],
      );
      for (const { id } of left) await successor.close(closed(id, "0.5"));
      assert.deepEqual(await successor.abandoned(), []);
      assert.equal(await successor.spentUsd("key"), "1.1");
    },
  },
  {
    title: "rejects what cannot be written, changes nothing, and takes it when it can be written again",
    assert: async ({ ledger, refuseWrites }) => {
      await ledger.open(one);
      await refuseWrites(true);
      await assert.rejects(ledger.assertWritable());
      await assert.rejects(ledger.open(two));
      await assert.rejects(ledger.checkpoint([{ id: "one", usage: some }]));
      await assert.rejects(ledger.close(closed("one")));
      assert.deepEqual(await ledger.find("one"), openEntry(one));
      assert.equal(await ledger.spentUsd("key"), "0");
      await refuseWrites(false);
      await ledger.assertWritable();
      await ledger.close(closed("one"));
      assert.equal(await ledger.spentUsd("key"), "0.1");
      assert.deepEqual(await listed(ledger), ["one"]);
    },
  },
  ...holdContract,
  ...groupBudgetContract,
  ...oldSpendingContract,
];
