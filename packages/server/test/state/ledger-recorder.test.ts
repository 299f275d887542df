import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { until } from "@parley/server/testing";
import { Permit } from "../../src/limits/permit.ts";
import { LedgerRecorder } from "../../src/metering/ledger-recorder.ts";
import type { UsageLedger } from "../../src/metering/usage-ledger.ts";
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
  promptTokens: 5,
  pricing: { prompt: "0.1", completion: "0.2", image: "0", request: "0" },
};
const usageOf = (completionTokens: number) => ({
  promptTokens: 5,
  cachedTokens: 0,
  completionTokens,
  reasoningTokens: 0,
});

/** A recorder that writes every millisecond, over a ledger that answers as the test wants. */
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
  test("gets what was counted while it wrote", async () => {
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
      const entry = await recorder.open(request);
      entry.count(usageOf(1));
      await isAsked;
      entry.count(usageOf(2));
      answer();
      await until(
        () => written(ledger),
        (tokens) => tokens === 2,
      );
      await entry.close({ outcome: "complete", errorCode: undefined, isServiceFault: false }).written;
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
        const slots = { count: () => undefined, endChoice: () => undefined };
        const running = { entry: await recorder.open(request), slots, maxTokens: 16, onFirst: () => undefined };
        await using permit = new Permit(running, async () => {
          order.push("slots");
          answer();
        });
        permit.count(usageOf(3));
        permit.complete();
      }
      expect(order).toEqual(["slots", "ledger"]);
      expect(await ledger.find("one")).toMatchObject({ outcome: "complete", costUsd: "1.1" });
    });
  });
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
  });
  await withRecorder(broken, async (recorder, ledger) => {
    const entry = await recorder.open(request);
    entry.count(usageOf(3));
    const { costUsd, written: isWritten } = entry.close({
      outcome: "cancelled",
      errorCode: undefined,
      isServiceFault: false,
    });
    await isWritten;
    expect(costUsd).toBe("1.1");
    expect(recorder.isHealthy).toBe(false);
    await expect(recorder.open({ ...request, id: "two" })).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await ledger.find("one")).toMatchObject({ outcome: "open" });
    isBroken = false;
    await until(
      () => recorder.isHealthy,
      (isHealthy) => isHealthy,
    );
    expect(await ledger.find("one")).toMatchObject({ outcome: "cancelled", costUsd: "1.1", endedMs: 2000 });
    expect(await ledger.spentUsd("key")).toBe("1.1");
    expect(await ledger.find("two")).toBeUndefined();
  });
});
