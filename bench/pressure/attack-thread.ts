import { parentPort, workerData } from "node:worker_threads";
import { makeKeyIn, parley } from "@parley/server/testing";
import type { Finding, Target } from "./row.ts";
import { rows } from "./rows.ts";

/** What the thread is given. */
export interface Order {
  readonly name: string;
  readonly target: Target;
  readonly seconds: number;
}

/** What it tells when it has ended. */
export interface Told {
  readonly findings: readonly Finding[];
}

// The thread of an attack: its load must not delay the one that measures.

const { name, target, seconds } = workerData as Order; // `measureRow` gives it
const row = rows.find((one) => one.name === name);
const findings = await row?.attack({
  target,
  signal: AbortSignal.timeout(seconds * 1000),
  makeKey: (limits) => makeKeyIn(target.dataDir, { name: "attacker", ...limits }),
  parley: (...args) => parley([...args, "--data-dir", target.dataDir], { cwd: target.dataDir }),
});
parentPort?.postMessage({ findings: findings ?? [] } satisfies Told);
// Connections that the attack has left open would keep the thread alive.
process.exit();
