import { setTimeout as wait } from "node:timers/promises";
import { Cluster } from "../cluster.ts";
import type { Entry, Server } from "../cluster.ts";
import { send, served, startStreams } from "../requests.ts";
import type { Seen } from "../requests.ts";
import { seconds } from "../row.ts";
import type { Row } from "../row.ts";
import { untilServed } from "./outage.ts";

const maxFreeMs = 30_000;

const killedOnce: Row = {
  name: "killed-once",
  event: "a server with 10 streams is killed (SIGKILL)",
  wanted: "10 abandoned, 10 charged; free within 30 s",
  run: async (cluster) => {
    const { id, token } = await cluster.makeKey({ concurrency: 10, budgetUsd: "1" });
    const victim = await cluster.add();
    const { streams, areBegun } = startStreams(Array<Server>(10).fill(victim), token, "longer");
    await areBegun;
    // Each stream has been written to the ledger by then: checkpoints are at most 2 s apart.
    await wait(2500);
    victim.process.child.kill("SIGKILL");
    cluster.servers.pop();
    const beganMs = performance.now();
    await Promise.all(streams);
    const [survivor] = cluster.servers;
    if (!survivor) throw new Error("the cluster has no other server");
    const abandoned = (await cluster.entriesOf(id)).filter(({ outcome }) => outcome === "abandoned");
    await untilServed(survivor, token);
    const tookMs = performance.now() - beganMs;
    const charged = abandoned.filter((entry) => entry.costUsd !== "0" && isPricedRight(entry)).length;
    return {
      found: `${abandoned.length} abandoned, ${charged} charged; free after ${seconds(tookMs)}`,
      isKept: abandoned.length === 10 && charged === 10 && tookMs <= maxFreeMs,
    };
  },
};

/** A stream whose server was killed. */
interface Cut {
  readonly seen: Seen;
  readonly killedMs: number;
}

/** Starts 4 streams on a server, kills it in mid-stream, and starts it again on its folder. */
async function killOnce(victim: Server, token: string): Promise<readonly Cut[]> {
  const { streams, areBegun } = startStreams(Array<Server>(4).fill(victim), token, "longer");
  await areBegun;
  await wait(200 + Math.random() * 800);
  const killedMs = Date.now();
  await victim.process[Symbol.asyncDispose]();
  victim.process = await victim.start();
  return (await Promise.all(streams)).map((seen) => ({ seen, killedMs }));
}

/** The ledger of a killed server lacks the usage since its last checkpoint: at most 2 s, which are 100 tokens. */
const maxMissingTokens = 100;
/** Checks that a cut stream costs what its entry says: nothing without a delivered token. */
function isPricedRight({ usage, pricing, costUsd }: Entry): boolean {
  const { promptTokens, completionTokens } = usage;
  const prices = [pricing.prompt, pricing.completion, pricing.request].map(Number);
  const [prompt = 0, completion = 0, request = 0] = prices;
  const wanted = completionTokens === 0 ? 0 : promptTokens * prompt + completionTokens * completion + request;
  return Math.abs(Number(costUsd) - wanted) < 1e-12;
}

/** Returns the number of tokens that were delivered and are not in the ledger. */
const missingIn = (entry: Entry | undefined, { delivered }: Seen): number =>
  delivered - (entry?.usage.completionTokens ?? 0);

/** Describes the entries that are wrong. */
function judgeEntries(entries: readonly Entry[], cuts: readonly Cut[], whole: readonly Seen[]): readonly string[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const faults: string[] = [];
  for (const { seen, killedMs } of cuts) {
    const entry = byId.get(seen.id);
    if (entry?.outcome !== "abandoned") faults.push(`${seen.id} is ${entry?.outcome ?? "missing"}`);
    else {
      const missing = missingIn(entry, seen);
      if (missing < 0 || missing > maxMissingTokens) faults.push(`${seen.id}: ${missing} tokens missing`);
      if (!isPricedRight(entry)) faults.push(`${seen.id} was charged ${entry.costUsd}`);
      if ((entry.endedMs ?? Infinity) - killedMs > maxFreeMs) faults.push(`${seen.id} was held too long`);
    }
  }
  for (const { id, completionTokens } of whole) {
    const entry = byId.get(id);
    if (entry?.outcome !== "complete" || entry.usage.completionTokens !== completionTokens)
      faults.push(
        `${id} is ${entry?.outcome ?? "missing"}, with ${entry?.usage.completionTokens} of ${completionTokens}`,
      );
  }
  return faults;
}

const killedOften: Row = {
  name: "killed-often",
  event: "two of three servers are killed in mid-stream (SIGKILL) and start again on their folders, many times",
  wanted:
    "ledger = delivered, short of ≤ 100 tokens (2 s) of a cut stream; held ≤ 30 s; spent = cost of what the ledger has",
  run: async (_shared, { kills, say }) => {
    await using cluster = await Cluster.start({ servers: 3 });
    const { id, token } = await cluster.makeKey({ budgetUsd: "100" });
    const cuts: Cut[] = [];
    const answers: Seen[] = [];
    let killed = 0;
    // Two of three servers are being killed and started at any time; the third always answers.
    const [first, second, third] = cluster.servers;
    if (!first || !second || !third) throw new Error("the cluster has three servers");
    const work = async (victim: Server): Promise<void> => {
      while (killed < kills) {
        killed += 1;
        if (killed % 10 === 0) say(`${killed} of ${kills} kills`);
        cuts.push(...(await killOnce(victim, token)));
      }
    };
    const kill = Promise.all([work(first), work(second)]);
    const end = new AbortController();
    const traffic = async (): Promise<void> => {
      while (!end.signal.aborted) {
        answers.push(await send(third, token, "short"));
        await wait(50);
      }
    };
    const steady = traffic();
    await kill.finally(() => end.abort());
    await steady;
    return await judge(cluster, id, cuts, answers);
  },
};

async function judge(
  cluster: Cluster,
  keyId: string,
  cuts: readonly Cut[],
  answers: readonly Seen[],
): ReturnType<Row["run"]> {
  const entries = await cluster.entriesOf(keyId);
  const begun = cuts.filter(({ seen }) => seen.status === 200);
  const faults = judgeEntries(entries, begun, served(answers));
  const refused = answers.length - served(answers).length;
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const longestMs = Math.max(...begun.map(({ seen, killedMs }) => (byId.get(seen.id)?.endedMs ?? Infinity) - killedMs));
  const missing = begun.map(({ seen }) => missingIn(byId.get(seen.id), seen));
  const money = await cluster.moneyOf(keyId);
  return {
    found:
      `${begun.length} of ${cuts.length} streams cut, ${served(answers).length} answers beside them, ${refused} refused; ` +
      `${Math.min(...missing)} to ${Math.max(...missing)} tokens of a cut stream missing; ` +
      `held ≤ ${seconds(longestMs)}; spent ${money.spent}, entries cost ${money.cost}, held ${money.held}; ` +
      (faults.length === 0
        ? "no entry is wrong"
        : `${faults.length} entries are wrong: ${faults.slice(0, 3).join(", ")}`),
    isKept:
      begun.length > 0 && faults.length === 0 && refused === 0 && money.spent === money.cost && money.held === "0",
  };
}

const disabledKey: Row = {
  name: "disabled",
  event: "a key is disabled on another server",
  wanted: "its stream ends within 1 s",
  run: async (cluster) => {
    const { id, token } = await cluster.makeKey();
    const [server] = cluster.servers;
    if (!server) throw new Error("the cluster has no server");
    const stream = send(server, token, "long");
    await wait(500);
    const beganMs = performance.now();
    await cluster.state.keys.disable(id, Date.now());
    const { isWhole } = await stream;
    const tookMs = performance.now() - beganMs;
    return {
      found: `${isWhole ? "not ended" : "ended"} after ${(tookMs / 1000).toFixed(2)} s`,
      isKept: !isWhole && tookMs <= 1000,
    };
  },
};

export const killedServers: readonly Row[] = [disabledKey, killedOnce, killedOften];
