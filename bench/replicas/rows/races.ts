import { setTimeout as wait } from "node:timers/promises";
import { modelId } from "@parley/server/testing";
import type { KeyRules } from "@parley/server/testing";
import type { Cluster } from "../cluster.ts";
import { countStatuses, race, served } from "../requests.ts";
import type { Scenario, Seen } from "../requests.ts";
import { grantable, seconds } from "../row.ts";
import type { Row } from "../row.ts";

const atOnce = 64;

/** Races requests on one key over all servers. */
async function raceOn(
  cluster: Cluster,
  rules: Partial<KeyRules>,
  { count, scenario = "short" }: { readonly count: number; readonly scenario?: Scenario },
): Promise<{ readonly id: string; readonly seen: readonly Seen[]; readonly tookMs: number }> {
  const { id, token } = await cluster.makeKey(rules);
  const beganMs = performance.now();
  const seen = await race(cluster.servers, { count, atOnce, token, scenario });
  return { id, seen, tookMs: performance.now() - beganMs };
}

const budget: Row = {
  name: "budget",
  event: "requests race for one budget",
  wanted: "overshoot 0.000000; ledger = delivered",
  run: async (cluster, { requests }) => {
    const limit = "0.003";
    const { id, seen } = await raceOn(cluster, { budgetUsd: limit }, { count: requests });
    const entries = (await cluster.entriesOf(id)).filter(({ outcome }) => outcome === "complete");
    const spent = Number(await cluster.state.ledger.spentUsd(id));
    const over = Math.max(0, spent - Number(limit));
    const delivered = served(seen);
    const tokens = entries.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
    const wanted = delivered.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
    return {
      found: `overshoot ${over.toFixed(6)} (spent ${spent.toFixed(7)} of ${limit}); ${entries.length} entries of ${delivered.length}, ${tokens} tokens of ${wanted}; ${countStatuses(seen)}`,
      isKept: over === 0 && entries.length > 0 && entries.length === delivered.length && tokens === wanted,
    };
  },
};

const requestsPerMinute: Row = {
  name: "requests",
  event: "requests race for a limit of requests a minute",
  wanted: "overshoot 0",
  run: async (cluster, { requests }) => {
    const limit = Math.ceil(requests / 10);
    const { seen, tookMs } = await raceOn(cluster, { requestsPerMinute: limit }, { count: requests });
    const granted = served(seen).length;
    const over = Math.max(0, granted - grantable(limit, tookMs));
    const found = `overshoot ${over} (limit ${limit}, ${seconds(tookMs)}); ${countStatuses(seen)}`;
    return { found, isKept: over === 0 && granted > 0 };
  },
};

const tokensPerMinute: Row = {
  name: "tokens",
  event: "requests race for a limit of tokens a minute",
  wanted: "overshoot 0",
  run: async (cluster, { requests }) => {
    const limit = requests * 3;
    const { seen, tookMs } = await raceOn(cluster, { tokensPerMinute: limit }, { count: requests });
    const used = served(seen).reduce((sum, { totalTokens }) => sum + totalTokens, 0);
    const over = Math.max(0, used - grantable(limit, tookMs));
    const found = `overshoot ${over} (${used} used, limit ${limit}, ${seconds(tookMs)}); ${countStatuses(seen)}`;
    return { found, isKept: over === 0 && used > 0 };
  },
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

const places: Row = {
  name: "places",
  event: "requests race for 5 places at the same time",
  wanted: "at most 5",
  run: async (cluster, { requests }) => {
    const { seen } = await raceOn(cluster, { concurrency: 5 }, { count: Math.ceil(requests / 5), scenario: "long" });
    const most = mostAtOnce(seen);
    return { found: `most ${most}; ${countStatuses(seen)}`, isKept: most <= 5 && most > 0 };
  },
};

/** Sends a request with an idempotency key until no other one runs. @returns the text of its answer */
async function insist(url: string, token: string, name: string, stream: boolean): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": name };
  const messages = [{ role: "user", content: "script:long" }];
  const body = JSON.stringify({ model: modelId, messages, stream });
  for (;;) {
    const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body });
    const text = await response.text();
    if (response.status !== 409) return response.status === 200 ? text : `status ${response.status}`;
    await wait(50 + Math.random() * 100);
  }
}

const duplicates = (stream: boolean): Row => ({
  name: stream ? "duplicates-streamed" : "duplicates",
  event: `${stream ? "streamed" : "plain"} requests with one Idempotency-Key race over three servers`,
  wanted: "1 generation, and its answer for all",
  run: async (cluster, { requests }) => {
    const { id, token } = await cluster.makeKey({});
    const servers = cluster.servers.slice(0, 3);
    const ask = (index: number): Promise<string> =>
      insist(servers[index % servers.length]?.url ?? "", token, `row ${String(stream)}`, stream);
    const answers = await Promise.all(Array.from({ length: requests }, (_none, index) => ask(index)));
    const entries = await cluster.entriesOf(id);
    const different = new Set(answers);
    const found = `${entries.length} generation of ${requests} requests; ${different.size} answer`;
    return { found, isKept: entries.length === 1 && different.size === 1 && !answers[0]?.startsWith("status") };
  },
});

export const races: readonly Row[] = [
  budget,
  requestsPerMinute,
  tokensPerMinute,
  places,
  duplicates(false),
  duplicates(true),
];
