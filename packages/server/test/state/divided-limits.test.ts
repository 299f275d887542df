import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { overallLimits, startValkey, until, valkeyProgram } from "@parley/server/testing";
import type { TestValkey } from "@parley/server/testing";
import type { LimitedKey, LimitLease } from "../../src/accounts/limits/limit-store.ts";
import type { ServerRegister } from "../../src/accounts/servers/server-register.ts";
import { countServers, DividedLimitStore } from "../../src/state/divided-limit-store.ts";
import type { SharedLimitStore } from "../../src/state/shared-limit-store.ts";
import { StateError } from "../../src/state/state-error.ts";
import { openValkey } from "../../src/state/valkey/open-valkey.ts";

const keyOf = (limits: Partial<LimitedKey> = {}): LimitedKey => ({
  keyId: "key",
  perMinute: { requests: 60, tokens: 6000 },
  concurrency: undefined,
  ...limits,
});
const key = keyOf();

interface TestServer {
  readonly limits: DividedLimitStore;
  readonly shared: SharedLimitStore;
}

describe.skipIf(valkeyProgram === undefined)("limits while Valkey is away (this needs Valkey or Redis)", () => {
  let valkey: TestValkey;
  let now = 0;
  /** The number of live servers, as each of them knows it. */
  let known: number | undefined = 3;
  const lines: string[] = [];
  beforeAll(async () => void (valkey = await startValkey()));
  afterAll(() => valkey[Symbol.asyncDispose]());
  beforeEach(() => {
    [now, known] = [1_000_000_000_000, 3];
    lines.length = 0;
  });

  /** Opens the limits of three servers, of a key that no other test has used. */
  async function openServers(): Promise<readonly TestServer[]> {
    const times = { leaseMs: 20_000, renewMs: 5000, nowMs: () => now };
    return Promise.all(
      [0, 1, 2].map(async () => {
        const { limits: shared, ...opened } = await openValkey(valkey.url, overallLimits, times);
        const tell = (line: string): void => void lines.push(line);
        const parts = { shared, overall: overallLimits, servers: () => known, nowMs: () => now, tell };
        const limits = new DividedLimitStore(parts);
        onTestFinished(async () => {
          limits[Symbol.dispose]();
          await opened[Symbol.asyncDispose]();
        });
        return { limits, shared };
      }),
    );
  }

  const isBack = (servers: readonly TestServer[]): Promise<unknown> =>
    until(() => servers.every(({ shared }) => shared.isReachable() && !shared.hasUnended()), Boolean);

  /** Takes requests of all servers in turn until each refuses. */
  async function takeAll(servers: readonly TestServer[], of = key): Promise<readonly LimitLease[]> {
    const leases: LimitLease[] = [];
    for (const { limits } of servers)
      for (let taken = await limits.take(of); "commit" in taken; taken = await limits.take(of)) leases.push(taken);
    return leases;
  }

  test("grant together what a shared bucket would have refilled, and nothing of it again when it is back", async () => {
    const servers = await openServers();
    const limits = { ...key, keyId: "refilled" };
    const first = await takeAll(servers, limits);
    expect(first).toHaveLength(60);
    for (const lease of first) await lease.commit(0);
    await valkey.signal("SIGKILL");
    const isAway = (): boolean => servers.every((server) => !server.shared.isReachable());
    await until(isAway, Boolean);
    expect(servers.map(({ limits }) => [limits.isReachable(), limits.isDivided()])).toEqual(
      servers.map(() => [true, true]),
    );
    expect(await takeAll(servers, limits)).toHaveLength(0);
    let granted = 0;
    for (let seconds = 0; seconds < 60; seconds += 10) {
      now += 10_000;
      const leases = await takeAll(servers, limits);
      granted += leases.length;
      expect(granted).toBeLessThanOrEqual(seconds + 10);
      for (const lease of leases) await lease.commit(0);
    }
    expect(granted).toBe(60);
    const restartedMs = performance.now();
    await valkey.restart();
    await isBack(servers);
    // Until the other servers have come back, too, each keeps to its part.
    expect(servers.map(({ limits }) => limits.isDivided())).toEqual([true, true, true]);
    now += 2000;
    expect(servers.map(({ limits }) => limits.isDivided())).toEqual([false, false, false]);
    // One a second comes back.
    const taken = await takeAll(servers, limits);
    expect(taken.length).toBeLessThanOrEqual(Math.ceil((performance.now() - restartedMs) / 1000) + 1);
    expect(lines).toEqual([
      ...servers.map(() => "the shared limits cannot be reached: each server grants its part of them"),
      ...servers.map(() => "the limits are shared again"),
    ]);
  });

  test("charge the tokens of requests that were granted meanwhile, also when they end later, and keep their places", async () => {
    const servers = await openServers();
    const limits = keyOf({ keyId: "later", concurrency: 6 });
    await valkey.signal("SIGKILL");
    await until(() => servers.every((server) => !server.shared.isReachable()), Boolean);
    servers.forEach((server) => server.limits.isDivided());
    now += 60_000;
    const leases = await takeAll(servers, limits);
    expect(leases).toHaveLength(6);
    for (const lease of leases) expect(await lease.takeTokens(500)).toBeUndefined();
    expect(await servers[0]?.limits.take(limits)).toMatchObject({ limit: "concurrency", bound: 2 });
    await leases[0]?.commit(1000);
    await valkey.restart();
    await isBack(servers);
    servers.forEach((server) => server.limits.isDivided());
    now += 2000;
    const [one] = servers;
    expect((await one?.limits.states(limits))?.tokens.remaining).toBe(5000 + 200);
    expect(await takeAll(servers, limits)).toHaveLength(1);
    for (const lease of leases.slice(1)) await lease.commit(600);
    expect((await one?.limits.states(limits))?.tokens.remaining).toBe(5000 + 200 - 3000);
  });

  test("refuse while the number of servers is not certain, or a part is too small", async () => {
    const servers = await openServers();
    const [one] = servers;
    await valkey.signal("SIGKILL");
    await until(() => servers.every((server) => !server.shared.isReachable()), Boolean);
    one?.limits.isDivided();
    now += 60_000;
    await expect(one?.limits.take(keyOf({ perMinute: { requests: 2, tokens: 6000 } }))).rejects.toThrow(StateError);
    await expect(one?.limits.take(keyOf({ concurrency: 2 }))).rejects.toThrow(StateError);
    const lease = await one?.limits.take(keyOf({ keyId: "large" }));
    if (!lease || !("commit" in lease)) throw new Error("was refused");
    await expect(lease.takeTokens(2001)).rejects.toThrow(StateError);
    expect(await lease.takeTokens(6001)).toMatchObject({ waitMs: Number.POSITIVE_INFINITY });
    known = undefined;
    await expect(one?.limits.take(key)).rejects.toThrow(StateError);
    expect([one?.limits.isReachable(), one?.limits.isDivided()]).toEqual([false, false]);
    await valkey.restart();
  });
});

test("the number of servers is certain when all must have seen this one, and as long as it is read", () => {
  let now = 0;
  let read = (): void => undefined;
  const server = { id: "own", name: "own", version: "1", startedMs: 0, facts: { offers: {}, engines: {} } };
  const register: ServerRegister = {
    ownId: "own",
    live: [server, { ...server, id: "other" }],
    enter: async () => undefined,
    onRead: (listener) => (read = listener),
  };
  const servers = countServers(register, () => now);
  expect(servers()).toBeUndefined();
  const seen: (number | undefined)[] = [];
  for (; now <= 25_000; now += 5000) {
    read();
    seen.push(servers());
  }
  expect(seen).toEqual([undefined, undefined, undefined, undefined, 2, 2]);
  now += 5000;
  expect(servers()).toBe(2);
  now += 10_000;
  expect(servers()).toBeUndefined();
});
