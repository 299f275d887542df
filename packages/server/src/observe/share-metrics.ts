import { Counter, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { RequestRecord } from "./request-record.ts";

/**
 * Adds metrics of the share that keys of each weight get, and of refusals by bound. They have weights as labels and not
 * keys, because there are at most 100 weights.
 * @returns a function that counts an ended request
 */
export function addShares(registers: Registry[], buckets: readonly number[]): (record: RequestRecord) => void {
  const labelNames = ["weight"];
  const wait = new Histogram({
    name: "parley_queue_wait_seconds",
    help: "How long requests of keys of a weight waited for their slots.",
    labelNames,
    registers,
    buckets: [...buckets],
  });
  const served = new Counter({
    name: "parley_served_tokens_total",
    help: "Prompt and completion tokens of keys of a weight.",
    labelNames,
    registers,
  });
  const refusals = new Counter({
    name: "parley_refusals_total",
    help: "Requests that were refused or ended, by the bound that they met.",
    labelNames: ["bound"],
    registers,
  });
  return ({ refusedBy, weight, queueWaitMs = 0, promptTokens = 0, completionTokens = 0 }) => {
    if (refusedBy !== undefined) refusals.inc({ bound: refusedBy });
    if (weight === undefined) return;
    wait.observe({ weight }, queueWaitMs / 1000);
    served.inc({ weight }, promptTokens + completionTokens);
  };
}
