import { parentPort, workerData } from "node:worker_threads";
import { makeKeyIn, parley } from "@parley/server/testing";
import type { Finding, Target } from "./row.ts";
import { rows } from "./rows.ts";

/** The attack that the thread runs. */
export interface Order {
  readonly name: string;
  readonly target: Target;
  readonly seconds: number;
}

/** The message that the thread sends at its end. */
export interface Told {
  readonly findings: readonly Finding[];
}

// The thread of an attack. It is separate, so that the attack's own work does not delay the measurements.

const { name, target, seconds } = workerData as Order; // `measureRow` gives it
const row = rows.find((one) => one.name === name);
const findings = await row?.attack({
  target,
  signal: AbortSignal.timeout(seconds * 1000),
  makeKey: (limits) => makeKeyIn(target.dataDir, { name: "attacker", ...limits }),
  parley: (...args) => parley([...args, "--data-dir", target.dataDir], { cwd: target.dataDir }),
});
parentPort?.postMessage({ findings: findings ?? [] } satisfies Told);
// Connections that the attack left open would keep the thread alive.
process.exit();
