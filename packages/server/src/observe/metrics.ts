import type { RequestListener } from "node:http";
import { Counter, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { addGauges } from "./gauges.ts";
import type { Observed } from "./gauges.ts";
import type { RequestRecord } from "./request-record.ts";

/** The metrics that Prometheus reads on the private port. */
export interface Metrics {
  readonly registry: Registry;
  countRequest(record: RequestRecord, status: number, durationMs: number): void;
}

export function createMetrics(observed: Observed): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const total = new Counter({
    name: "parley_requests_total",
    help: "Requests by their end. The outcome is empty for those that were not admitted.",
    labelNames: ["operation", "model", "status", "code", "outcome"],
    registers,
  });
  const duration = new Histogram({
    name: "parley_request_duration_seconds",
    help: "From the head of a request to the end of its answer.",
    labelNames: ["operation"],
    registers,
    buckets: secondsBuckets,
  });
  const firstEvent = new Histogram({
    name: "parley_time_to_first_token_seconds",
    help: "From the head of a request to the engine's first event.",
    labelNames: ["model"],
    registers,
    buckets: secondsBuckets,
  });
  const tokens = new Counter({
    name: "parley_tokens_total",
    help: "Tokens by kind: prompt, completion.",
    labelNames: ["model", "kind"],
    registers,
  });
  const countShare = addShares(registers, secondsBuckets);
  addGauges(registers, observed);
  return {
    registry,
    countRequest: (record, status, durationMs) => {
      const { operation = "", model = "", outcome = "", errorCode: code = "" } = record;
      total.inc({ operation, model, status, code, outcome });
      countShare(record);
      duration.observe({ operation }, durationMs / 1000);
      if (record.firstEventMs !== undefined) firstEvent.observe({ model }, record.firstEventMs / 1000);
      if (record.promptTokens !== undefined) tokens.inc({ model, kind: "prompt" }, record.promptTokens);
      if (record.completionTokens !== undefined) tokens.inc({ model, kind: "completion" }, record.completionTokens);
    },
  };
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/**
 * Adds metrics of the share that keys of each weight get, and of refusals by bound. They have weights as labels and not
 * keys, because there are at most 100 weights.
 * @returns a function that counts an ended request
 */
function addShares(registers: Registry[], buckets: readonly number[]): (record: RequestRecord) => void {
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

/** Serves only `/metrics`, in Prometheus' text format. Concurrent scrapes share one text. */
export function metricsHandler(registry: Registry): RequestListener {
  let running: Promise<Buffer> | undefined;
  const render = async (): Promise<Buffer> => {
    try {
      return Buffer.from(await registry.metrics());
    } finally {
      running = undefined;
    }
  };
  return (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("Metrics are at /metrics.\n");
      return;
    }
    (running ??= render()).then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}
