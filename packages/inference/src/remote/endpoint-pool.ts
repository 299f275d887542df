import { EngineError } from "../engine.ts";
import type { Delivery } from "../engine.ts";
import type { Upstream } from "../openai/upstream.ts";
import type { EventBatches } from "../wire/connection.ts";
import { isRetryable } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Several endpoints of the same model. Requests go to the one with the fewest in flight, and failing endpoints are ejected. */
export class EndpointPool implements Upstream {
  readonly #endpoints: readonly Endpoint[];

  constructor(endpoints: readonly Endpoint[]) {
    this.#endpoints = endpoints;
  }

  /** The endpoints that are not ejected. */
  get healthy(): readonly Endpoint[] {
    const now = performance.now();
    return this.#endpoints.filter((endpoint) => !endpoint.isEjected(now));
  }

  get ejected(): number {
    return this.#endpoints.length - this.healthy.length;
  }

  /** The reasons why all endpoints failed their latest requests; undefined while one works. */
  get failureReason(): string | undefined {
    if (this.#endpoints.some((one) => !one.isFailing)) return undefined;
    return this.#endpoints.map((one) => one.failureReason).join("; ");
  }

  /** Ends all ejections. Used when no endpoint works, because then waiting protects none of them. */
  reinstateAll(): void {
    for (const endpoint of this.#endpoints) endpoint.reinstate();
  }

  /** Checks which endpoints answer, also while there are no requests. */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await Promise.allSettled(this.healthy.map((endpoint) => endpoint.read("/v1/models", signal)));
  }

  open(path: string, body: string, signal: AbortSignal, delivery: Delivery): Promise<EventBatches> {
    return this.#withFailover((endpoint) => endpoint.open(path, body, signal, delivery));
  }

  read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    return this.#withFailover((endpoint) => endpoint.read(path, signal, body));
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.connection.close()));
  }

  /** Another endpoint is tried only if no part of an answer has arrived. */
  async #withFailover<T>(ask: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const tried = new Set<Endpoint>();
    let failure: unknown;
    for (let next = this.#choose(tried); next; next = this.#choose(tried)) {
      tried.add(next);
      try {
        return await ask(next);
      } catch (error) {
        if (!isRetryable(error)) throw error;
        failure = error;
      }
    }
    throw failure ?? new EngineError("unavailable", "no engine of this model answers");
  }

  #choose(tried: ReadonlySet<Endpoint>): Endpoint | undefined {
    const untried = this.healthy.filter((endpoint) => !tried.has(endpoint));
    return untried.toSorted((a, b) => a.inFlight - b.inFlight || a.requestCount - b.requestCount)[0];
  }
}
