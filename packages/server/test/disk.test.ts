import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelId } from "@parley/server/testing";
import { newRequestId } from "../src/http/exchange.ts";
import { priceOf } from "../src/accounts/money/price.ts";
import { DiskSync } from "../src/state/disk-sync.ts";
import { SqliteUsageLedger } from "../src/state/sqlite-usage-ledger.ts";
import { DataFolder } from "./state/data-folder.ts";

const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/usage.md"), "utf8");

test("the guide says how much disk a year of ten requests per second takes", async () => {
  const [, bytes, gigabytes] = /(\d+) bytes\s+for\s+each\s+request.* (\d+)\s+GB\s+a\s+year/s.exec(guide) ?? [];
  const measured = await bytesPerRequest(10_000);
  expect(Math.abs(measured - Number(bytes)) / measured).toBeLessThan(0.1);
  const yearly = (Number(bytes) * 10 * 365 * 86_400) / 1e9;
  expect(Math.abs(yearly - Number(gigabytes))).toBeLessThan(1);
});

/** Measures requests as a server writes them: twenty run at a time, with ids and counts of the usual length. */
async function bytesPerRequest(count: number): Promise<number> {
  await using folder = new DataFolder();
  const database = folder.open();
  const ledger = new SqliteUsageLedger(database, new DiskSync(database));
  const size = (): number => {
    const { bytes } = database
      .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
      .get() as { bytes: number }; // one row with one number
    return bytes;
  };
  const empty = size();
  const usage = { promptTokens: 345, cachedTokens: 0, completionTokens: 212, reasoningTokens: 0 };
  const pricing = { prompt: "0.0000003", completion: "0.0000006", image: "0", request: "0" };
  const running: { readonly id: string; readonly keyId: string; readonly startedMs: number }[] = [];
  for (let index = 0; index < count; index += 1) {
    const request = { id: newRequestId(), keyId: "0123456789ab", startedMs: Date.parse("2026-11-23") + index * 100 };
    running.push(request);
    await ledger.open({ ...request, model: modelId, isStream: true, pricing });
    const ended = running.length > 20 ? running.shift() : undefined;
    if (!ended) continue;
    const costUsd = priceOf(usage, pricing);
    const endedMs = ended.startedMs + 2000;
    await ledger.close({
      id: ended.id,
      keyId: ended.keyId,
      usage,
      outcome: "complete",
      errorCode: undefined,
      costUsd,
      endedMs,
    });
  }
  return (size() - empty) / count;
}
