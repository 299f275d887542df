import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { makeKeyIn, readLedger } from "@parley/server/testing";
import { chat } from "./ask.ts";
import type { Order, Told } from "./attack-thread.ts";
import type { Measured } from "./judge-row.ts";
import { MemoryWatch } from "./memory.ts";
import { watch } from "./neighbour.ts";
import type { Neighbour, Seen } from "./neighbour.ts";
import type { Finding, Row } from "./row.ts";
import { bound } from "./row.ts";
import { Subject } from "./subject.ts";

export interface Lengths {
  readonly aloneSeconds: number;
  readonly attackSeconds: number;
}

/** Time in which an attack has to end after its signal. */
const endPatienceMs = 60_000;

/** Starts a server for one row, measures it alone and under attack, and stops it. */
export async function measureRow(row: Row, lengths: Lengths, isShort: boolean, stop: AbortSignal): Promise<Measured> {
  await using subject = await Subject.start(row, isShort);
  const { target } = subject;
  const { token } = await makeKeyIn(target.dataDir, { name: "neighbour" });
  const neighbour = { origin: target.origin, token, model: row.neighbourModel ?? "vendor/model-1" };
  await warmUp(neighbour);
  const alone = await watch(neighbour, AbortSignal.any([stop, AbortSignal.timeout(lengths.aloneSeconds * 1000)]));
  const attacked = await measureAttack(neighbour, { name: row.name, target, seconds: lengths.attackSeconds }, stop);
  const died = subject.hasEnded ? subject.lastWords : undefined;
  const ended = died === undefined ? await subject.stop() : undefined;
  const answered = [...alone.answered, ...attacked.attacked.answered];
  const lostEntries = await countLost(target.dataDir, answered);
  return {
    row: { name: row.name, action: row.action, engine: row.engine, ...(row.granted && { granted: row.granted }) },
    alone,
    ...attacked,
    lostEntries,
    stop: ended,
    died,
  };
}

type AttackMeasured = Pick<Measured, "attacked" | "findings" | "grownBytes" | "ownDelayMs">;

/** Runs the attack, and measures the answers to the neighbour and a load balancer and the server's memory meanwhile. */
async function measureAttack(neighbour: Neighbour, order: Order, stop: AbortSignal): Promise<AttackMeasured> {
  using memory = new MemoryWatch(order.target.pid);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const ended = new AbortController();
  const watching = watch(neighbour, AbortSignal.any([stop, ended.signal]));
  const findings = await attackFromThread(order, stop).finally(() => ended.abort());
  const attacked: Seen = await watching;
  delay.disable();
  return { attacked, findings, grownBytes: memory.grownBytes, ownDelayMs: delay.max / 1e6 };
}

/** Sends the first requests to the process, because they are slow: V8 compiles its code then. */
async function warmUp({ origin, token, model }: Neighbour): Promise<void> {
  for (let count = 0; count < 10; count += 1) await chat(origin, token, { model });
}

async function attackFromThread(order: Order, stop: AbortSignal): Promise<readonly Finding[]> {
  const worker = new Worker(new URL("./attack-thread.ts", import.meta.url), { workerData: order });
  const quiet = new AbortController();
  try {
    const told = once(worker, "message", { signal: AbortSignal.any([stop, quiet.signal]) });
    const late = wait(order.seconds * 1000 + endPatienceMs, undefined, { signal: quiet.signal });
    const first = await Promise.race([told, late]);
    if (first === undefined) return [bound("the attack ends when its time is over", false, "it did not")];
    const [{ findings }] = first as [Told]; // the only message that the thread sends
    return findings;
  } finally {
    quiet.abort();
    await worker.terminate();
  }
}

/** Counts the answered requests without a closed ledger entry, after the server has ended. */
async function countLost(dataDir: string, answered: readonly string[]): Promise<number> {
  const rows = await readLedger(dataDir);
  const closed = new Set(rows.filter(({ ended_ms }) => ended_ms !== null).map(({ id }) => id));
  return answered.filter((id) => !closed.has(id)).length;
}
