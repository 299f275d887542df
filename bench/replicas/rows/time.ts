import { setTimeout as wait } from "node:timers/promises";
import type { Server } from "../cluster.ts";
import { send, served } from "../requests.ts";
import type { Seen } from "../requests.ts";
import type { Row } from "../row.ts";

/** A server, and the times to the first event of each round in milliseconds. */
export interface Timed {
  readonly server: Server;
  readonly token: string;
  readonly rounds: number[][];
}

export const percentile = (times: readonly number[], share: number): number => {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

/** Sends 100 requests a second to servers in turn, 2 s each. A first round warms them up. */
export async function timeInTurns(subjects: readonly Timed[], rounds: number): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) {
    for (const { server, token, rounds: own } of subjects) {
      const pending: Promise<Seen>[] = [];
      for (let turn = 0; turn < 200; turn += 1) {
        pending.push(send(server, token, "short"));
        await wait(10);
      }
      const seen = await Promise.all(pending);
      if (round > 0) own.push(served(seen).map(({ firstMs }) => firstMs));
    }
  }
}

/** The time to the first event with shared state, beside that with a file and memory. */
export const addedTime: Row = {
  name: "time",
  event: "100 requests a second, on shared state and on a file, in turns",
  wanted: "added to the first event ≤ 1 ms p50, ≤ 4 ms p99",
  run: async (cluster) => {
    const key = "key-of-the-server-alone";
    const alone = await cluster.startServer({ PARLEY_API_KEY: key });
    await using _alone = alone.process;
    const { token } = await cluster.makeKey();
    const [shared] = cluster.servers;
    if (!shared) throw new Error("the cluster has no server");
    const pair = [
      { server: alone, token: key, rounds: [] as number[][] },
      { server: shared, token, rounds: [] as number[][] },
    ];
    await timeInTurns(pair, 7);
    const [own = [], other = []] = pair.map(({ rounds }) => rounds.flat());
    const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => percentile(other, share) - percentile(own, share));
    return {
      found: `${p50.toFixed(2)} ms p50, ${p99.toFixed(2)} ms p99 (alone ${percentile(own, 0.5).toFixed(2)} and ${percentile(own, 0.99).toFixed(2)}, ${own.length} and ${other.length} requests)`,
      isKept: own.length > 0 && own.length === other.length && p50 <= 1 && p99 <= 4,
    };
  },
};
