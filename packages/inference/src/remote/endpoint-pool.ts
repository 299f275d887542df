import { EngineError } from "../engine.ts";
import type { RequestOrigin } from "../engine.ts";
import type { Upstream } from "../openai/upstream.ts";
import { isWorthAnother } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Several places that serve the same model: the one with the least to do is asked, and broken ones are left alone. */
export class EndpointPool implements Upstream {
  readonly #endpoints: readonly Endpoint[];

  constructor(endpoints: readonly Endpoint[]) {
    this.#endpoints = endpoints;
  }

  /** Those that may be asked. */
  get healthy(): readonly Endpoint[] {
    const now = Date.now();
    return this.#endpoints.filter((endpoint) => !endpoint.isEjected(now));
  }

  /** What is wrong, where every one of them failed when it was last asked; undefined while one works. */
  get complaint(): string | undefined {
    if (this.#endpoints.some((one) => !one.isFailing)) return undefined;
    return this.#endpoints.map((one) => one.complaint).join("; ");
  }

  /** Where none works there is nobody to be spared: all are asked anew. */
  readmitAll(): void {
    for (const endpoint of this.#endpoints) endpoint.readmit();
  }

  /** Finds out which of them are there, also while nobody asks for anything. */
  async visitAll(signal: AbortSignal): Promise<void> {
    await Promise.allSettled(this.healthy.map((endpoint) => endpoint.read("/v1/models", signal)));
  }

  /** Another endpoint is tried only as long as nothing of an answer has been seen. */
  async *stream(path: string, body: string, signal: AbortSignal, origin?: RequestOrigin): AsyncGenerator<string> {
    yield* this.#untilOneAnswers((endpoint) => endpoint.stream(path, body, signal, origin));
  }

  async read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    const once = async function* (endpoint: Endpoint): AsyncGenerator<string> {
      yield await endpoint.read(path, signal, body);
    };
    for await (const text of this.#untilOneAnswers(once)) return text;
    throw new EngineError("protocol", "the engine gave no answer");
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.connection.close()));
  }

  async *#untilOneAnswers(ask: (endpoint: Endpoint) => AsyncGenerator<string>): AsyncGenerator<string> {
    const tried = new Set<Endpoint>();
    let failure: unknown = new EngineError("unavailable", "no engine of this model answers");
    for (let next = this.#choose(tried); next; next = this.#choose(tried)) {
      tried.add(next);
      try {
        return yield* ask(next);
      } catch (error) {
        if (!isWorthAnother(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #choose(tried: ReadonlySet<Endpoint>): Endpoint | undefined {
    const untried = this.healthy.filter((endpoint) => !tried.has(endpoint));
    return untried.toSorted((a, b) => a.inFlight - b.inFlight || a.asked - b.asked)[0];
  }
}
