import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { addKeyMetrics } from "./key-metrics.ts";
import type { RequestRecord } from "../observe/request-record.ts";

test("a scrape asks the store for one key after the other, so requests do not wait behind it", async () => {
  const registry = new Registry();
  let running = 0;
  let most = 0;
  const count = addKeyMetrics([registry], {
    maxKeys: 3,
    keys: {
      find: async () => {
        most = Math.max(most, (running += 1));
        await Promise.resolve();
        running -= 1;
        return undefined;
      },
    },
    ledger: { spentUsd: () => Promise.resolve("0") },
    nowMs: () => 0,
  });
  for (const keyId of ["a", "b", "c"]) count({ keyId } as RequestRecord); // the other fields are not read
  await registry.metrics();
  expect(most).toBe(1);
});
