import { setTimeout as wait } from "node:timers/promises";
import { race, send } from "./cluster.ts";
import type { Cluster, Seen, Server } from "./cluster.ts";

/** A row of the table. */
export interface Result {
  readonly name: string;
  readonly wanted: string;
  readonly found: string;
  readonly isKept: boolean;
}

export interface RowOptions {
  /** Number of racing requests of each row, and seconds of each outage. */
  readonly requests: number;
  readonly outageSeconds: number;
}

type Row = (cluster: Cluster, options: RowOptions) => Promise<Result>;

const atOnce = 64;
const minuteMs = 60_000;
const served = (seen: readonly Seen[]): readonly Seen[] => seen.filter(({ status }) => status === 200);
const counts = (seen: readonly Seen[]): string => {
  const statuses = Map.groupBy(seen, ({ status }) => status);
  return [...statuses].map(([status, { length }]) => `${length} × ${status || "broken"}`).join(", ");
};

/** Races requests on one key over all servers. */
async function raceOn(
  cluster: Cluster,
  rules: Parameters<Cluster["makeKey"]>[0],
  { count, scenario = "short" }: { readonly count: number; readonly scenario?: "short" | "long" },
): Promise<{ readonly id: string; readonly seen: readonly Seen[]; readonly tookMs: number }> {
  const { id, token } = await cluster.makeKey(rules);
  const beganMs = performance.now();
  const seen = await race(cluster.servers, { count, atOnce, token, scenario });
  return { id, seen, tookMs: performance.now() - beganMs };
}

/** Waits for the end of all entries of a key, at most a minute. @returns milliseconds */
async function untilClosed({ state: { ledger } }: Cluster, keyId: string): Promise<number> {
  const beganMs = performance.now();
  const open = async (): Promise<number> => (await Array.fromAsync(ledger.entries({ keyId, outcome: "open" }))).length;
  while (performance.now() - beganMs < minuteMs && (await open()) > 0) await wait(200);
  return performance.now() - beganMs;
}

/** The money of a budget is exact: what was spent is at most the budget, and the ledger has what was served. */
const budget: Row = async (cluster, { requests }) => {
  const limit = "0.003";
  const { id, seen } = await raceOn(cluster, { budgetUsd: limit }, { count: requests });
  await untilClosed(cluster, id);
  const spent = Number(await cluster.state.ledger.spentUsd(id));
  const over = Math.max(0, spent - Number(limit));
  const entries = await Array.fromAsync(cluster.state.ledger.entries({ keyId: id, outcome: "complete" }));
  const delivered = served(seen);
  const tokens = entries.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
  const wanted = delivered.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
  return {
    name: "one budget",
    wanted: "overshoot 0.000000; ledger = delivered",
    found: `overshoot ${over.toFixed(6)} (spent ${spent.toFixed(7)} of ${limit}); ${entries.length} entries of ${delivered.length}, ${tokens} tokens of ${wanted}; ${counts(seen)}`,
    isKept: over === 0 && entries.length === delivered.length && tokens === wanted,
  };
};

/** A bucket gives one minute's worth and what refills meanwhile. */
const grantable = (limit: number, tookMs: number): number => Math.ceil(limit + (tookMs * limit) / minuteMs);

const requestsPerMinute: Row = async (cluster, { requests }) => {
  const limit = Math.ceil(requests / 10);
  const { seen, tookMs } = await raceOn(cluster, { requestsPerMinute: limit }, { count: requests });
  const over = Math.max(0, served(seen).length - grantable(limit, tookMs));
  const found = `overshoot ${over} (limit ${limit}, ${(tookMs / 1000).toFixed(1)} s); ${counts(seen)}`;
  return { name: "requests a minute", wanted: "overshoot 0", found, isKept: over === 0 };
};

const tokensPerMinute: Row = async (cluster, { requests }) => {
  const limit = requests * 3;
  const { seen, tookMs } = await raceOn(cluster, { tokensPerMinute: limit }, { count: requests });
  const used = served(seen).reduce((sum, { totalTokens }) => sum + totalTokens, 0);
  const over = Math.max(0, used - grantable(limit, tookMs));
  const found = `overshoot ${over} (${used} used, limit ${limit}); ${counts(seen)}`;
  return { name: "tokens a minute", wanted: "overshoot 0", found, isKept: over === 0 };
};

/** The largest number of answers that ran at the same time, as the client saw them. */
function mostAtOnce(seen: readonly Seen[]): number {
  const changes = served(seen).flatMap(({ span: [from, to] }) => [[from, 1] as const, [to, -1] as const]);
  let running = 0;
  let most = 0;
  for (const [, change] of changes.toSorted(([a, up], [b, down]) => a - b || up - down))
    most = Math.max(most, (running += change));
  return most;
}

const places: Row = async (cluster, { requests }) => {
  const { seen } = await raceOn(cluster, { concurrency: 5 }, { count: Math.ceil(requests / 5), scenario: "long" });
  const most = mostAtOnce(seen);
  const found = `most ${most}; ${counts(seen)}`;
  return { name: "5 requests at the same time", wanted: "at most 5", found, isKept: most <= 5 && most > 0 };
};

/** Asks a server every 50 ms until it serves a request. @returns milliseconds */
async function untilServed(server: Server, token: string): Promise<number> {
  const beganMs = performance.now();
  while ((await send(server, token, "short")).status !== 200 && performance.now() - beganMs < minuteMs) await wait(50);
  return performance.now() - beganMs;
}

interface Outage {
  readonly name: string;
  readonly begin: (cluster: Cluster) => Promise<void>;
  readonly end: (cluster: Cluster) => Promise<void>;
}

const outages: readonly Outage[] = [
  { name: "PostgreSQL killed", begin: ({ postgres }) => postgres.kill(), end: ({ postgres }) => postgres.start() },
  {
    name: "Valkey killed",
    begin: ({ valkey }) => valkey.signal("SIGKILL"),
    end: ({ valkey }) => valkey.restart(),
  },
  {
    name: "Valkey paused",
    begin: ({ valkey }) => valkey.signal("SIGSTOP"),
    end: ({ valkey }) => valkey.signal("SIGCONT"),
  },
];

/** While a store is away, a valid key gets 503 and nothing else, and every server serves again within 5 s. */
const outage =
  ({ name, begin, end }: Outage): Row =>
  async (cluster, { outageSeconds }) => {
    const { token } = await cluster.makeKey();
    const running = cluster.servers.map((server) => send(server, token, "long"));
    await wait(500);
    await begin(cluster);
    const untilMs = performance.now() + outageSeconds * 1000;
    const seen: Seen[] = [];
    while (performance.now() < untilMs) {
      seen.push(...(await Promise.all(cluster.servers.map((server) => send(server, token, "short")))));
      await wait(100);
    }
    const whole = (await Promise.all(running)).filter(({ isWhole }) => isWhole).length;
    await end(cluster);
    const recoveries = await Promise.all(cluster.servers.map((server) => untilServed(server, token)));
    const slowest = Math.max(...recoveries);
    return {
      name,
      wanted: "only 503; running streams whole; recovery ≤ 5 s",
      found: `${counts(seen)}; ${whole} of ${running.length} whole; recovery ${(slowest / 1000).toFixed(1)} s`,
      isKept: seen.every(({ status }) => status === 503) && whole === running.length && slowest <= 5000,
    };
  };

/** A server that is killed charges nothing, and what it held is free within 30 s. */
const killedServer: Row = async (cluster) => {
  const { id, token } = await cluster.makeKey({ concurrency: 10, budgetUsd: "1" });
  const victim = await cluster.add();
  const streams = Array.from({ length: 10 }, () => send(victim, token, "long"));
  await wait(1500);
  victim.process.child.kill("SIGKILL");
  cluster.servers.pop();
  const beganMs = performance.now();
  await Promise.all(streams);
  const [survivor] = cluster.servers;
  if (!survivor) throw new Error("the cluster has no other server");
  await untilClosed(cluster, id);
  await untilServed(survivor, token);
  const tookMs = performance.now() - beganMs;
  const abandoned = await Array.fromAsync(cluster.state.ledger.entries({ keyId: id, outcome: "abandoned" }));
  const charged = abandoned.filter(({ costUsd }) => costUsd !== "0").length;
  return {
    name: "kill -9 of a server with 10 streams",
    wanted: "10 abandoned, 0 charged; free within 30 s",
    found: `${abandoned.length} abandoned, ${charged} charged; free after ${(tookMs / 1000).toFixed(1)} s`,
    isKept: abandoned.length === 10 && charged === 0 && tookMs <= 30_000,
  };
};

/** A stream of a key ends within a second after another server has disabled the key. */
const disabledKey: Row = async (cluster) => {
  const { id, token } = await cluster.makeKey();
  const [server] = cluster.servers;
  if (!server) throw new Error("the cluster has no server");
  const stream = send(server, token, "long");
  await wait(500);
  const beganMs = performance.now();
  await cluster.state.keys.disable(id, Date.now());
  const { isWhole } = await stream;
  const tookMs = performance.now() - beganMs;
  const found = `${isWhole ? "not ended" : "ended"} after ${(tookMs / 1000).toFixed(2)} s`;
  return { name: "a key disabled elsewhere", wanted: "ended ≤ 1 s", found, isKept: !isWhole && tookMs <= 1000 };
};

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** The time to the first event at 100 requests a second, with shared state and with a file and memory, in turns. */
const addedTime: Row = async (cluster) => {
  const key = "key-of-the-server-alone";
  const alone = await cluster.startServer({ PARLEY_API_KEY: key });
  await using _alone = alone.process;
  const { token } = await cluster.makeKey();
  const [shared] = cluster.servers;
  if (!shared) throw new Error("the cluster has no server");
  const pair = [
    { server: alone, token: key, times: [] as number[] },
    { server: shared, token, times: [] as number[] },
  ];
  for (let round = 0; round < 8; round += 1) {
    for (const { server, token: own, times } of pair) {
      const pending: Promise<Seen>[] = [];
      for (let turn = 0; turn < 200; turn += 1) {
        pending.push(send(server, own, "short"));
        await wait(10);
      }
      // The first round warms both up.
      if (round > 0) times.push(...served(await Promise.all(pending)).map(({ firstMs }) => firstMs));
      else await Promise.all(pending);
    }
  }
  const [own = [], other = []] = pair.map(({ times }) => times.toSorted((a, b) => a - b));
  const added = [0.5, 0.99].map((share) => percentile(other, share) - percentile(own, share));
  const [p50 = 0, p99 = 0] = added;
  return {
    name: "added to the first event",
    wanted: "≤ 1 ms p50, ≤ 4 ms p99",
    found: `${p50.toFixed(2)} ms p50, ${p99.toFixed(2)} ms p99 (alone ${percentile(own, 0.5).toFixed(2)} and ${percentile(own, 0.99).toFixed(2)}, ${own.length} and ${other.length} requests)`,
    isKept: own.length > 0 && p50 <= 1 && p99 <= 4,
  };
};

/** All rows, by name. */
export const rows: Readonly<Record<string, Row>> = {
  time: addedTime,
  budget,
  requests: requestsPerMinute,
  tokens: tokensPerMinute,
  places,
  disabled: disabledKey,
  killed: killedServer,
  ...Object.fromEntries(outages.map((one) => [one.name.toLowerCase().replace(" ", "-"), outage(one)])),
};
