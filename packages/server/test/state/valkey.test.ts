import { Valkey } from "iovalkey";
import { afterAll, beforeAll, describe, test } from "vitest";
import { assertCase, limitStoreContract, overallLimits, startValkey, valkeyProgram } from "@parley/server/testing";
import type { LimitStoreSubject, TestValkey } from "@parley/server/testing";
import { openValkey } from "../../src/state/valkey/open-valkey.ts";

describe.skipIf(valkeyProgram === undefined)("limits in Valkey (this needs `valkey-server` or `redis-server`)", () => {
  let valkey: TestValkey;
  beforeAll(async () => void (valkey = await startValkey()));
  afterAll(() => valkey[Symbol.asyncDispose]());

  /** Opens an empty store whose clock stands still until it is advanced. */
  async function openEmpty(): Promise<LimitStoreSubject & AsyncDisposable> {
    await flush(valkey);
    let now = 1_000_000;
    const opened = await openValkey(valkey.url, overallLimits, { leaseMs: 20_000, renewMs: 5000, nowMs: () => now });
    return {
      store: opened.limits,
      advance: async (ms) => void (now += ms),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  test.each(limitStoreContract)("$title", (one) => assertCase(one, openEmpty));
});

async function flush({ port }: TestValkey): Promise<void> {
  const client = new Valkey(port, "127.0.0.1");
  await client.flushall();
  await client.quit();
}
