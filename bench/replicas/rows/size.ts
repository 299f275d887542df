import { Cluster } from "../cluster.ts";
import type { Row } from "../row.ts";
import { percentile, timeInTurns } from "./time.ts";
import type { Timed } from "./time.ts";

const keys = 10_000;
const maxUsageMs = 1000;

/** Entries of the last 60 days, and the spending that belongs to them. */
const fill = (entries: number, replica: string): readonly string[] => [
  `INSERT INTO parley.keys (id, hash, name, created_ms)
   SELECT 'bench-' || n, repeat('0', 64), 'key ' || n, 1700000000000 + n FROM generate_series(1, ${keys}) n`,
  `INSERT INTO parley.requests (id, key_id, model, is_stream, started_ms, ended_ms, outcome, prompt_tokens,
     completion_tokens, cost_usd, prices, held_usd, replica_id)
   SELECT 'chatcmpl-bench-' || n, 'bench-' || (n % ${keys} + 1), 'model-1', true, at.ms, at.ms + 900, 'complete', 120, 80,
     0.00021, '{"inputUsdPerMillion":"1","cachedInputUsdPerMillion":"0.5","outputUsdPerMillion":"2"}', 0, '${replica}'
   FROM generate_series(1, ${entries}) n,
     LATERAL (SELECT (extract(epoch FROM now()) * 1000)::bigint - n * 5184000000 / ${entries} AS ms) at`,
  `INSERT INTO parley.spending (key_id, cost_usd) SELECT key_id, sum(cost_usd) FROM parley.requests GROUP BY key_id
   ON CONFLICT (key_id) DO UPDATE SET cost_usd = excluded.cost_usd`,
  "VACUUM ANALYZE",
];

const timed = async (cluster: Cluster): Promise<Timed> => {
  const [server] = cluster.servers;
  if (!server) throw new Error("the cluster has no server");
  const { token } = await cluster.makeKey({ budgetUsd: "100" });
  return { server, token, rounds: [] };
};

export const largeLedger: Row = {
  name: "size",
  event: "1,000,000 entries and 10,000 keys, beside an empty database",
  wanted: "usage < 1 s, requests < 1 s; the first event as early as with an empty database, within its spread",
  run: async (_shared, { entries, say }) => {
    await using empty = await Cluster.start({ servers: 1 });
    await using large = await Cluster.start({ servers: 1 });
    say(`writing ${entries} entries`);
    for (const statement of fill(entries, crypto.randomUUID())) await large.query(statement);
    const commands: Record<string, number> = {};
    const failures: string[] = [];
    for (const [name, args] of Object.entries({
      usage: ["usage"],
      "usage of a day": ["usage", "--since", "1d"],
      requests: ["requests"],
      "requests of a key": ["requests", "--key", "bench-77"],
      "keys show": ["keys", "show", "bench-77"],
    })) {
      const beganMs = performance.now();
      const { code, stderr } = await large.command(...args);
      commands[name] = performance.now() - beganMs;
      if (code !== 0) failures.push(`${name}: ${stderr.trim()}`);
    }
    const pair = [await timed(empty), await timed(large)];
    await timeInTurns(pair, 5);
    const [small = [], big = []] = pair.map(({ rounds }) => rounds.map((times) => percentile(times, 0.5)));
    const spreadMs = Math.max(...small) - Math.min(...small);
    const addedMs = percentile(big, 0.5) - percentile(small, 0.5);
    const slowest = Math.max(...Object.values(commands));
    return {
      found:
        `${Object.entries(commands)
          .map(([name, ms]) => `${name} ${Math.round(ms)} ms`)
          .join(", ")}; first event ${percentile(big, 0.5).toFixed(2)} ms, ` +
        `with an empty database ${percentile(small, 0.5).toFixed(2)} ms (${Math.min(...small).toFixed(2)} to ${Math.max(...small).toFixed(2)})${failures.map((failure) => `; ${failure}`).join("")}`,
      isKept: failures.length === 0 && slowest < maxUsageMs && addedMs <= Math.max(spreadMs, 0.2),
    };
  },
};
