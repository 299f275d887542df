import { setTimeout as wait } from "node:timers/promises";
import type { NewKey } from "@parley/server/testing";
import { Cluster } from "../cluster.ts";
import type { ClusterOptions, Server } from "../cluster.ts";
import { countStatuses, send, served, startStreams } from "../requests.ts";
import type { Seen } from "../requests.ts";
import { grantable, minuteMs, seconds } from "../row.ts";
import type { Result, Row, RowOptions } from "../row.ts";
import { SmallDiskError } from "../small-disk.ts";

/** An event that makes a store unusable, and its end. */
export interface Outage {
  readonly name: string;
  readonly event: string;
  /** Options of a cluster for this row alone; absent: the row uses the shared one. */
  readonly cluster?: ClusterOptions;
  /** @returns a function that ends the outage */
  readonly begin: (cluster: Cluster) => Promise<() => Promise<void>>;
  /** Requests may succeed during the outage: while a disk is almost full, or when the store works but is empty. */
  readonly mayServe?: true;
  /** Length relative to `--outage`. Default: 1/3. */
  readonly share?: number;
  /** The limits are lost, so another minute's worth may be granted. */
  readonly losesLimits?: true;
}

interface Keys {
  readonly free: NewKey;
  /** A key with few requests a minute. */
  readonly limited: NewKey;
}

const limit = 30;
const maxRecoveryMs = 5000;

/** Valid keys get 503 and nothing else while a store is away, no limit opens, and every server serves again within 5 s. */
export const toRow = (outage: Outage): Row => ({
  name: outage.name,
  event: outage.event,
  wanted: `${outage.mayServe ? "200 or 503" : "only 503"}, 0 × 401; limits closed; running streams whole and in the ledger; recovery ≤ 5 s`,
  run: async (shared, options) => {
    if (!outage.cluster) return runOutage(outage, shared, options);
    try {
      await using own = await Cluster.start(outage.cluster);
      return await runOutage(outage, own, options);
    } catch (error) {
      if (error instanceof SmallDiskError) return { skipped: error.message };
      throw error;
    }
  },
});

async function runOutage(outage: Outage, cluster: Cluster, { outageSeconds, say }: RowOptions): Promise<Result> {
  const { servers } = cluster;
  const keys: Keys = {
    free: await cluster.makeKey({ budgetUsd: "5" }),
    limited: await cluster.makeKey({ requestsPerMinute: limit }),
  };
  const beganMs = performance.now();
  const limited = [...(await askAll(servers, keys.limited))];
  const { streams: pending, areBegun } = startStreams(servers, keys.free.token, "long");
  await areBegun;
  say(`${outage.event}, for ${Math.ceil(outageSeconds * (outage.share ?? 1 / 3))} s`);
  const end = await outage.begin(cluster);
  const seen = await loadFor(outageSeconds * (outage.share ?? 1 / 3), servers, keys);
  const streams = await Promise.all(pending);
  await end();
  const recoveries = await Promise.all(servers.map((server) => untilServed(server, keys.free.token)));
  const slowest = Math.max(...recoveries.map(({ tookMs }) => tookMs));
  limited.push(...seen.limited, ...(await askAll(servers, keys.limited)));
  const granted = served(limited).length;
  const bound = grantable(limit, performance.now() - beganMs) + (outage.losesLimits ? limit : 0);
  const answered = [...seen.free, ...streams, ...recoveries.flatMap(({ seen: probes }) => probes)];
  const books = await compareLedger(cluster, keys.free.id, answered);
  const whole = streams.filter(({ isWhole }) => isWhole).length;
  const during = [...seen.free, ...seen.limited];
  const refusals = outage.mayServe ? [200, 429, 503] : [503];
  return {
    found: `${countStatuses(during)}; ${granted} granted of ${bound}; ${whole} of ${streams.length} whole; ledger ${books.found}; recovery ${seconds(slowest)}`,
    isKept:
      during.length > 0 &&
      during.every(({ status }) => refusals.includes(status)) &&
      granted <= bound &&
      whole === streams.length &&
      books.isEqual &&
      slowest <= maxRecoveryMs,
  };
}

const askAll = (servers: readonly Server[], key: NewKey): Promise<readonly Seen[]> =>
  Promise.all(servers.map((server) => send(server, key.token, "short")));

/** Sends requests with both keys to all servers for some seconds. */
async function loadFor(
  forSeconds: number,
  servers: readonly Server[],
  keys: Keys,
): Promise<{ readonly free: readonly Seen[]; readonly limited: readonly Seen[] }> {
  const free: Seen[] = [];
  const limited: Seen[] = [];
  const untilMs = performance.now() + forSeconds * 1000;
  while (performance.now() < untilMs) {
    const [first, second] = await Promise.all([askAll(servers, keys.free), askAll(servers, keys.limited)]);
    free.push(...first);
    limited.push(...second);
    await wait(100);
  }
  return { free, limited };
}

/** Asks a server every 50 ms until it serves a request, at most a minute. */
export async function untilServed(
  server: Server,
  token: string,
): Promise<{ readonly tookMs: number; readonly seen: readonly Seen[] }> {
  const beganMs = performance.now();
  const seen: Seen[] = [];
  for (;;) {
    const one = await send(server, token, "short");
    seen.push(one);
    const tookMs = performance.now() - beganMs;
    if (one.status === 200 || tookMs > minuteMs) return { tookMs, seen };
    await wait(50);
  }
}

/** Compares the complete entries of a key with the answers that its clients have received whole. */
async function compareLedger(
  cluster: Cluster,
  keyId: string,
  seen: readonly Seen[],
): Promise<{ readonly found: string; readonly isEqual: boolean }> {
  const complete = (await cluster.entriesOf(keyId)).filter(({ outcome }) => outcome === "complete");
  const delivered = served(seen);
  const inLedger = complete.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
  const received = delivered.reduce((sum, { delivered: tokens }) => sum + tokens, 0);
  return {
    found: `${complete.length} of ${delivered.length} requests, ${inLedger} of ${received} tokens`,
    isEqual: complete.length === delivered.length && inLedger === received,
  };
}
