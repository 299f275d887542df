import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { until } from "@parley/server/testing";
import { Admission } from "../../src/chat/admission/admission.ts";
import { Meter } from "../../src/chat/admission/meter.ts";
import { LedgerRecorder, closeAbandoned } from "../../src/accounts/ledger/ledger-recorder.ts";
import type { UsageLedger } from "../../src/accounts/ledger/usage-ledger.ts";
import { DiskSync } from "../../src/state/disk-sync.ts";
import { SqliteUsageLedger } from "../../src/state/sqlite-usage-ledger.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

const request = {
  id: "one",
  keyId: "key",
  model: "vendor/model-1",
  isStream: true,
  startedMs: 1000,
  pricing: { prompt: "0.1", completion: "0.2", image: "0", request: "0" },
};
const ignore = (): undefined => undefined;
const bound = { fixedUsd: "0.5", perTokenUsd: "0.2", maxTokens: 16, isMaximumNamed: true };
const budgets = { budgetUsd: "5", monthlyBudgetUsd: undefined };
/** Its maximum cost is 3.7 dollars. */
const costly = { row: request, bound, budgets };
const usageOf = (completionTokens: number) => ({
  promptTokens: 5,
  cachedTokens: 0,
  completionTokens,
  reasoningTokens: 0,
});

const notUsed = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/** Runs a test with a recorder that writes every millisecond to a ledger with replaced methods. */
async function withRecorder(
  change: (ledger: UsageLedger) => Partial<UsageLedger>,
  act: (recorder: LedgerRecorder, ledger: UsageLedger) => Promise<void>,
): Promise<void> {
  await using folder = new DataFolder();
  const database = folder.open();
  const ledger = new SqliteUsageLedger(database, new DiskSync(database));
  const slow = override<UsageLedger>(ledger, change(ledger));
  await using recorder = new LedgerRecorder(slow, pino({ level: "silent" }), () => 2000, 1);
  await act(recorder, ledger);
}

const written = async (ledger: UsageLedger): Promise<number | undefined> =>
  (await ledger.find("one"))?.usage.completionTokens;

describe("a ledger that answers late, as one over a network does", () => {
  test("gets the tokens that were counted while it wrote", async () => {
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    const late = (ledger: UsageLedger): Partial<UsageLedger> => ({
      checkpoint: async (checkpoints) => {
        asked();
        await mayAnswer;
        await ledger.checkpoint(checkpoints);
      },
    });
    await withRecorder(late, async (recorder, ledger) => {
      const meter = { usage: usageOf(1) };
      const entry = await recorder.open(costly);
      entry.follow(() => meter.usage);
      await isAsked;
      meter.usage = usageOf(2);
      answer();
      await until(
        () => written(ledger),
        (tokens) => tokens === 2,
      );
      await entry.commit({ usage: meter.usage, outcome: "complete", errorCode: undefined, costUsd: "0.9" });
    });
  });

  test("is asked again at once after it has failed late, so requests are taken as soon as it is back", async () => {
    let isAway = true;
    let failures = 0;
    const late = (ledger: UsageLedger): Partial<UsageLedger> => ({
      open: (...args) => (isAway ? Promise.reject(new Error("away")) : ledger.open(...args)),
      assertWritable: async () => {
        if (!isAway) return ledger.assertWritable();
        await new Promise((resolve) => setTimeout(resolve, 250));
        failures += 1;
        throw new Error("no answer in time");
      },
    });
    await withRecorder(late, async (recorder) => {
      await expect(recorder.open(costly)).rejects.toMatchObject({ code: "service_unavailable" });
      await until(
        () => failures,
        (count) => count > 0,
      );
      isAway = false;
      await until(() => recorder.isHealthy, Boolean, 3000);
      const entry = await recorder.open(costly);
      await entry.rollback();
    });
  });

  test("keeps no slot: what else a request holds is released first", async () => {
    const order: string[] = [];
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    const late = (ledger: UsageLedger): Partial<UsageLedger> => ({
      close: async (record) => {
        await mayAnswer;
        await ledger.close(record);
        order.push("ledger");
      },
    });
    await withRecorder(late, async (recorder, ledger) => {
      {
        const full = { limit: 100, remaining: 100, resetMs: 0 };
        const limits = {
          tokenLimit: 100,
          states: () => ({ requests: full, tokens: full }),
          takeTokens: async () => undefined,
          commit: async () => answer(),
          rollback: async () => undefined,
        };
        const admission = new Admission(limits, { commit: ignore, rollback: ignore });
        const commit = (): void => void order.push("slots");
        const entry = admission.add(await recorder.open(costly));
        const slots = admission.add({ commit, rollback: ignore, count: ignore, endChoice: ignore });
        await using meter = new Meter({
          promptTokens: 5,
          maxTokens: entry.maxTokens,
          pricing: request.pricing,
          slots,
          onFirst: ignore,
          onEnd: (final) => admission.commit(final),
        });
        entry.follow(() => meter.usage);
        meter.count(usageOf(3));
        meter.complete();
      }
      expect(order).toEqual(["slots", "ledger"]);
      expect(await ledger.find("one")).toMatchObject({ outcome: "complete", costUsd: "1.1" });
    });
  });
});

test("a request that ran and is rolled back is closed as failed, without usage and for free", async () => {
  await withRecorder(
    () => ({}),
    async (recorder, ledger) => {
      const entry = await recorder.open(costly);
      const three = usageOf(3);
      entry.follow(() => three);
      expect(recorder.running).toBe(1);
      await entry.rollback();
      expect(recorder.running).toBe(0);
      expect(recorder.heldUsd).toBe(0);
      expect(await ledger.find("one")).toMatchObject({ outcome: "failed", costUsd: "0", usage: notUsed });
    },
  );
});

test("a request that waited for a slot in vain leaves no entry, and its money is released", async () => {
  await withRecorder(
    () => ({}),
    async (recorder, ledger) => {
      const entry = await recorder.open(costly);
      expect(recorder).toMatchObject({ running: 0, heldUsd: 3.7 });
      expect(await ledger.find("one")).toMatchObject({ outcome: "open" });
      await expect(recorder.open({ ...costly, row: { ...request, id: "two" } })).rejects.toMatchObject({
        code: "insufficient_quota",
        details: { needed_usd: "3.7", remaining_usd: "1.3" },
      });
      await entry.rollback();
      expect(recorder.heldUsd).toBe(0);
      expect(await ledger.find("one")).toBeUndefined();
      expect(recorder.isHealthy).toBe(true);
    },
  );
});

test("an entry that cannot be closed is tried again until it is, and meanwhile no request is taken", async () => {
  let isBroken = true;
  const assertWhole = (): void => {
    if (isBroken) throw new Error("the disk is full");
  };
  const broken = (ledger: UsageLedger): Partial<UsageLedger> => ({
    close: async (record) => {
      assertWhole();
      await ledger.close(record);
    },
    withdraw: async (id) => {
      assertWhole();
      await ledger.withdraw(id);
    },
  });
  await withRecorder(broken, async (recorder, ledger) => {
    const usage = usageOf(3);
    const entry = await recorder.open(costly);
    const queued = await recorder.open({ ...costly, row: { ...request, id: "queued" }, budgets: undefined });
    entry.follow(() => usage);
    await entry.commit({ usage, outcome: "cancelled", errorCode: undefined, costUsd: "1.1" });
    await queued.rollback();
    expect(recorder).toMatchObject({ isHealthy: false, heldUsd: 3.7 });
    await expect(recorder.open({ ...costly, row: { ...request, id: "two" } })).rejects.toMatchObject({
      code: "service_unavailable",
    });
    expect(await ledger.find("one")).toMatchObject({ outcome: "open" });
    isBroken = false;
    await until(
      () => recorder.isHealthy,
      (isHealthy) => isHealthy,
    );
    expect(recorder.heldUsd).toBe(0);
    expect(await ledger.find("one")).toMatchObject({ outcome: "cancelled", costUsd: "1.1", endedMs: 2000 });
    expect(await ledger.spentUsd("key")).toBe("1.1");
    for (const id of ["two", "queued"]) expect(await ledger.find(id)).toBeUndefined();
  });
});

test.each([
  ["a stream with sent tokens", true, 4, "1.3"],
  ["a stream without a sent token", true, 0, "0"],
  ["an answer that is not streamed", false, 4, "0"],
])("OPS-19 of a dead server, %s is charged what its client received", async (_what, isStream, tokens, cost) => {
  await using folder = new DataFolder();
  const database = folder.open();
  const ledger = new SqliteUsageLedger(database, new DiskSync(database));
  await ledger.open({ ...request, isStream }, { bound, budgets });
  await ledger.checkpoint([{ id: "one", usage: usageOf(tokens) }]);
  expect(await closeAbandoned(ledger, 3000)).toBe(1);
  expect(await ledger.find("one")).toMatchObject({ outcome: "abandoned", costUsd: cost, usage: usageOf(tokens) });
  expect(await ledger.spentUsd("key")).toBe(cost);
});
