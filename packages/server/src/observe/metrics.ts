import type { RequestListener } from "node:http";
import { Counter, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { addGauges } from "./gauges.ts";
import type { Observed } from "./gauges.ts";
import { furtherTokens } from "./request-record.ts";
import type { RequestRecord } from "./request-record.ts";

/** The metrics that Prometheus reads on the private port. */
export interface Metrics {
  readonly registry: Registry;
  countRequest(record: RequestRecord, status: number, durationMs: number): void;
}

/** Adds metrics to registers. @returns a function that counts an ended request */
type AddMetrics = (registers: Registry[]) => (record: RequestRecord) => void;

/** @param addOfKeys adds the metrics by key; undefined: there are none */
export function createMetrics(observed: Observed, addOfKeys?: AddMetrics): Metrics {
  const registry = new Registry();
  addProcessMetrics(registry);
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
    labelNames: ["operation", "model", "streamed"],
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
  const countUse = addUse(registers);
  const countShare = addShares(registers, secondsBuckets);
  const countOfKey = addOfKeys?.(registers);
  addGauges(registers, observed);
  return {
    registry,
    countRequest: (record, status, durationMs) => {
      const { operation = "", model = "", outcome = "", errorCode: code = "" } = record;
      total.inc({ operation, model, status, code, outcome });
      countUse(record, durationMs);
      countShare(record);
      countOfKey?.(record);
      duration.observe({ operation, model, streamed: String(record.isStream ?? "") }, durationMs / 1000);
      if (record.firstEventMs !== undefined) firstEvent.observe({ model }, record.firstEventMs / 1000);
    },
  };
}

/** Adds the metrics of this process: memory, processor time, event loop. @param labels of all of them */
export function addProcessMetrics(register: Registry, labels: Record<string, string> = {}): void {
  collectDefaultMetrics({ register, labels });
  for (const name of misnamed) register.removeSingleMetric(name);
}

/** Gauges of the library whose names end like those of counters. `promtool check metrics` refuses them. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** Adds metrics of tokens, their pace and their price. @returns a function that counts an ended request */
function addUse(registers: Registry[]): (record: RequestRecord, durationMs: number) => void {
  const tokens = new Counter({
    name: "parley_tokens_total",
    help: "Tokens by kind: prompt, completion. Of these, cached prompt tokens and reasoning tokens are also counted alone.",
    labelNames: ["model", "kind"],
    registers,
  });
  const cost = new Counter({
    name: "parley_cost_usd_total",
    help: "US dollars that requests were charged. The ledger has the exact amounts.",
    labelNames: ["model"],
    registers,
  });
  const pace = new Histogram({
    name: "parley_time_per_output_token_seconds",
    help: "Mean time of a request for each further token of a choice, after the first event.",
    labelNames: ["model"],
    registers,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  });
  return (record, durationMs) => {
    const { model = "", promptTokens, cachedTokens, completionTokens, reasoningTokens, costUsd } = record;
    const counts = {
      prompt: promptTokens,
      cached: cachedTokens,
      completion: completionTokens,
      reasoning: reasoningTokens,
    };
    for (const [kind, count] of Object.entries(counts)) if (count !== undefined) tokens.inc({ model, kind }, count);
    if (costUsd !== undefined) cost.inc({ model }, Number(costUsd));
    const further = furtherTokens(record);
    if (record.firstEventMs !== undefined && further >= 1)
      pace.observe({ model }, (durationMs - record.firstEventMs) / 1000 / further);
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
    help: "How long requests of keys of a weight waited for slots of a model.",
    labelNames: ["model", "weight"],
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
  return ({ model = "", refusedBy, weight, queueWaitMs = 0, promptTokens = 0, completionTokens = 0 }) => {
    if (refusedBy !== undefined) refusals.inc({ bound: refusedBy });
    if (weight === undefined) return;
    wait.observe({ model, weight }, queueWaitMs / 1000);
    served.inc({ weight }, promptTokens + completionTokens);
  };
}

/** Serves only `/metrics`, in Prometheus' text format. Concurrent scrapes share one text. */
export function metricsHandler(registry: Registry, textOf = () => registry.metrics()): RequestListener {
  let running: Promise<Buffer> | undefined;
  const render = async (): Promise<Buffer> => {
    try {
      return Buffer.from(await textOf());
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
