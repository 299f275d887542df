import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { assertCase, limitStoreContract, until } from "@parley/server/testing";
import type { LimitStoreSubject } from "@parley/server/testing";
import type { LimitedKey, LimitLease, LimitRefusal, LimitStore } from "../../src/accounts/limits/limit-store.ts";
import { limitServers } from "./limit-servers.ts";
import type { LimitServer } from "./limit-servers.ts";
import { StateError } from "../../src/state/state-error.ts";
import type { LeaseTimes, OpenLimits } from "../../src/state/shared-limit-store.ts";

const key = (limits: Partial<LimitedKey> = {}): LimitedKey => ({
  keyId: "key",
  perMinute: { requests: 60, tokens: 6000 },
  concurrency: undefined,
  ...limits,
});
const dayMs = 24 * 60 * 60 * 1000;
const single = key({ concurrency: 1 });
const isLease = (taken: LimitLease | LimitRefusal): taken is LimitLease => "commit" in taken;

async function hold(store: LimitStore, of: LimitedKey, tokens = 0): Promise<LimitLease> {
  const taken = await store.take(of);
  if (!isLease(taken)) throw new Error(`was refused: ${JSON.stringify(taken)}`);
  await taken.takeTokens(tokens);
  return taken;
}

async function remaining(store: LimitStore): Promise<readonly [requests: number, tokens: number]> {
  const { requests, tokens } = await store.states(key());
  return [requests.remaining, tokens.remaining];
}

for (const [name, start] of limitServers)
  describe.skipIf(start === undefined)(`limits in ${name}`, () => {
    let server: LimitServer;
    /** The clock of the stores, where it stands still. */
    let now = 0;

    beforeAll(async () => {
      if (start) server = await start();
    });
    afterAll(() => server[Symbol.asyncDispose]());
    beforeEach(async () => {
      await server.clear();
      now = 100 * dayMs;
    });

    const open = (times: Partial<LeaseTimes> = {}): Promise<OpenLimits> =>
      server.open({ leaseMs: 20_000, renewMs: 5000, ...times });
    const openStill = (times: Partial<LeaseTimes> = {}): Promise<OpenLimits> => open({ nowMs: () => now, ...times });

    async function openSubject(): Promise<LimitStoreSubject & AsyncDisposable> {
      const opened = await openStill();
      return {
        store: opened.limits,
        advance: async (ms) => void (now += ms),
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      };
    }

    test.each(limitStoreContract)("$title", (one) => assertCase(one, openSubject));

    test.each([
      ["requests", key(), 60],
      ["places", key({ concurrency: 7 }), 7],
    ] as const)("are exact for two servers that race for %s", async (_limit, raced, bound) => {
      await using first = await openStill();
      await using second = await openStill();
      const takes = await Promise.all(
        Array.from({ length: 500 }, (_, turn) => (turn % 2 === 0 ? first : second).limits.take(raced)),
      );
      expect(takes.filter(isLease).length).toBe(bound);
    });

    test("use the clock of the store, however wrong that of the server is", async () => {
      await using opened = await open();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 40 * dayMs });
      await hold(opened.limits, key(), 5000);
      vi.useRealTimers();
      expect(Math.abs((await server.bucketTimeMs("key")) - Date.now())).toBeLessThan(5000);
    });

    test("refill, and free the places of dead servers, after the store's clock was set back by 40 days", async () => {
      await using opened = await openStill();
      await hold(opened.limits, single, 6000);
      now -= 40 * dayMs;
      expect(await remaining(opened.limits)).toEqual([59, 0]);
      now += 30_000;
      expect(await remaining(opened.limits)).toEqual([60, 3000]);
      await hold(opened.limits, single);
    });

    test("give back the place of a killed server, once, but not its tokens, and keep the place of a running one", async () => {
      const times = { leaseMs: 1600, renewMs: 200 };
      await using opened = await open(times);
      const pair = key({ concurrency: 2 });
      await hold(opened.limits, pair);
      const killed = await startHolder(server.scriptToOpen(times), pair);
      expect(await opened.limits.take(pair)).toMatchObject({ limit: "concurrency" });
      killed.kill("SIGKILL");
      await until(() => opened.limits.take(pair), isLease);
      expect(await opened.limits.take(pair)).toMatchObject({ limit: "concurrency" });
      expect((await remaining(opened.limits))[1]).toBeLessThan(5000);
    });

    test("renew the place of a request that runs longer than a lease", async () => {
      await using opened = await open({ leaseMs: 1500, renewMs: 100 });
      await hold(opened.limits, single);
      const end = Date.now() + 2500;
      await until(
        async () => expect(await opened.limits.take(single)).toMatchObject({ limit: "concurrency" }),
        () => Date.now() > end,
      );
    });

    test("get the places of running requests back after the store was flushed", async () => {
      await using opened = await open({ leaseMs: 20_000, renewMs: 100 });
      const lease = await hold(opened.limits, single, 1000);
      await server.clear();
      await until(
        () => server.placesOf("key"),
        (count) => count === 1,
      );
      expect(await opened.limits.take(single)).toMatchObject({ limit: "concurrency" });
      await lease.commit(3000);
      const [, tokens] = await remaining(opened.limits);
      expect(tokens).toBeLessThan(3500);
      await hold(opened.limits, single);
    });

    test("reject while the store is dead, and recover with the commits that were made in between", async () => {
      await using opened = await openStill();
      const [served, refused] = [await hold(opened.limits, key(), 1000), await hold(opened.limits, key(), 1000)];
      await server.kill();
      await assertRejects(opened);
      await served.commit(400);
      await refused.rollback();
      await server.restart();
      expect(await until(() => remaining(opened.limits).catch(() => undefined), Boolean)).toBeDefined();
      expect(opened.limits.isReachable()).toBe(true);
      await until(
        () => remaining(opened.limits),
        ([requests, tokens]) => requests === 59 && tokens === 5600,
      );
    });

    test("reject while the store hangs, and count once a commit that was sent twice", async () => {
      await using opened = await openStill();
      const lease = await hold(opened.limits, single, 1000);
      await server.pause();
      await Promise.all([assertRejects(opened), lease.commit(400)]);
      await server.resume();
      await until(
        () => remaining(opened.limits).catch(() => undefined),
        (seen) => seen?.[0] === 59 && seen[1] === 5600,
      );
      await hold(opened.limits, single);
    });

    test("reject while the store takes no writes, and take nothing", async () => {
      await using opened = await openStill({ renewMs: 100 });
      await server.refuseWrites(true);
      await expect(opened.limits.take(single)).rejects.toThrow(StateError);
      await until(
        () => opened.limits.isReachable(),
        (isReachable) => !isReachable,
      );
      await server.refuseWrites(false);
      await until(() => opened.limits.isReachable(), Boolean);
      expect(await remaining(opened.limits)).toEqual([60, 6000]);
      await hold(opened.limits, single);
    });

    async function assertRejects(opened: OpenLimits): Promise<void> {
      const start = performance.now();
      const calls = [opened.limits.take(key()), opened.limits.states(key())];
      for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ status: "rejected" });
      expect(performance.now() - start).toBeLessThan(5000);
      expect(opened.limits.isReachable()).toBe(false);
    }
  });

/** Starts another process that takes one request of the key and keeps it. */
async function startHolder(opening: string, of: LimitedKey): Promise<ReturnType<typeof spawn>> {
  const program = `
    ${opening}
    await (await limits.take(${JSON.stringify(of)})).takeTokens(2000);
    process.stdout.write("taken");
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
