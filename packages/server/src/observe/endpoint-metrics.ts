import { Counter, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { EndpointAttempt } from "@parley/inference";

/**
 * Metrics by endpoint of the remote models. Workers that are restarted get new addresses, so only the endpoints that were
 * asked last have series.
 */
export class EndpointMetrics {
  readonly #maxEndpoints: number;
  readonly #requests = new Counter({
    name: "parley_endpoint_requests_total",
    help: "Generations that an endpoint of a remote model was asked for: answered, refused, failed, cancelled.",
    labelNames: ["model", "endpoint", "outcome"],
    registers: [],
  });
  readonly #firstEvent = new Histogram({
    name: "parley_endpoint_time_to_first_token_seconds",
    help: "From the request to an endpoint of a remote model to its first event.",
    labelNames: ["model", "endpoint"],
    registers: [],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  /** The endpoint that was asked last is the last one. */
  readonly #recent = new Map<string, { readonly model: string; readonly endpoint: string }>();

  /** @param maxEndpoints of all models that have series */
  constructor(maxEndpoints = 1000) {
    this.#maxEndpoints = maxEndpoints;
  }

  addTo(registry: Registry): void {
    registry.registerMetric(this.#requests);
    registry.registerMetric(this.#firstEvent);
  }

  count(model: string, { endpoint, outcome, firstEventMs }: EndpointAttempt): void {
    const labels = { model, endpoint };
    const id = `${model} ${endpoint}`;
    // A series that begins with the first failure would hide it from `rate`.
    if (!this.#recent.delete(id)) for (const one of outcomes) this.#requests.inc({ ...labels, outcome: one }, 0);
    this.#recent.set(id, labels);
    this.#requests.inc({ ...labels, outcome });
    if (firstEventMs !== undefined) this.#firstEvent.observe(labels, firstEventMs / 1000);
    const [oldest] = this.#recent;
    if (oldest && this.#recent.size > this.#maxEndpoints) this.#forget(...oldest);
  }

  #forget(id: string, labels: { readonly model: string; readonly endpoint: string }): void {
    this.#recent.delete(id);
    for (const outcome of outcomes) this.#requests.remove({ ...labels, outcome });
    this.#firstEvent.remove(labels);
  }
}

const outcomes = [
  "answered",
  "refused",
  "failed",
  "cancelled",
] as const satisfies readonly EndpointAttempt["outcome"][];
