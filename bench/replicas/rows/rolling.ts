import { setTimeout as wait } from "node:timers/promises";
import { Cluster } from "../cluster.ts";
import { isNginxInstalled, startNginx } from "../nginx.ts";
import { countStatuses, send } from "../requests.ts";
import type { Seen } from "../requests.ts";
import { seconds } from "../row.ts";
import type { Row } from "../row.ts";

/** New streams begin at this pace while the servers restart. */
const streamsPerSecond = 15;

export const rollingRestart: Row = {
  name: "rolling",
  event: "three servers behind nginx restart one after the other (SIGTERM, 2 s lame duck), while streams begin and run",
  wanted: "0 cut, 0 refused; ledger = delivered",
  run: async (_shared, { streams, say }) => {
    if (!isNginxInstalled()) return { skipped: "nginx is not installed (Debian: nginx-light)" };
    await using cluster = await Cluster.start({ servers: 3, env: { PARLEY_LAME_DUCK_SECONDS: "2" } });
    const nginx = cluster.use(await startNginx(cluster.servers.map(({ port }) => port)));
    const { id, token } = await cluster.makeKey({ budgetUsd: "100" });
    const pending: Promise<Seen>[] = [];
    const restarts = new AbortController();
    const begin = async (): Promise<void> => {
      // A third of the streams runs before the first restart.
      while (!restarts.signal.aborted || pending.length < streams) {
        pending.push(send(nginx, token, pending.length % 3 === 0 ? "longer" : "long"));
        await wait(pending.length < streams / 3 ? 5 : 1000 / streamsPerSecond);
      }
    };
    const load = begin();
    await wait(2500);
    const stops: number[] = [];
    for (const [index, server] of cluster.servers.entries()) {
      say(`restart ${index + 1} of ${cluster.servers.length}, ${pending.length} streams`);
      const beganMs = performance.now();
      server.process.child.kill("SIGTERM");
      await server.process.result();
      stops.push(performance.now() - beganMs);
      server.process = await server.start();
      await wait(1000);
    }
    restarts.abort();
    await load;
    const seen = await Promise.all(pending);
    const cut = seen.filter(({ status, isWhole }) => status === 200 && !isWhole).length;
    const refused = seen.filter(({ status }) => status !== 200).length;
    const entries = (await cluster.entriesOf(id)).filter(({ outcome }) => outcome === "complete");
    const received = seen.reduce((sum, { delivered }) => sum + delivered, 0);
    const inLedger = entries.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
    return {
      found: `${cut} cut, ${refused} refused of ${seen.length} streams (${countStatuses(seen)}); ledger ${inLedger} of ${received} tokens; stops took ${stops.map(seconds).join(", ")}`,
      isKept: seen.length >= streams && cut === 0 && refused === 0 && inLedger === received,
    };
  },
};
