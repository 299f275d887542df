import { once } from "node:events";
import { EngineError } from "../engine.ts";
import type { Conversation } from "../openai/conversation.ts";
import type { RoutedDelivery, Upstream } from "../openai/upstream.ts";
import type { EventBatches } from "../wire/connection.ts";
import { ConversationAffinity } from "./conversation-affinity.ts";
import { isRetryable } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { findAddresses } from "./resolve-endpoints.ts";
import type { Lookup } from "./resolve-endpoints.ts";

export interface PoolOptions {
  readonly baseUrls: readonly string[];
  /** @param address an IP address of the host; undefined: the host is resolved for each connection */
  readonly openEndpoint: (baseUrl: string, address?: string) => Endpoint;
  /** Undefined: host names are not resolved here, because a proxy does it. */
  readonly lookup: Lookup | undefined;
  /** True if the front behind the address needs to know the conversation. */
  readonly needsConversation?: boolean;
}

/**
 * Several endpoints of the same model. Requests go to the one that has read their conversation, and failing endpoints are
 * ejected.
 */
export class EndpointPool implements Upstream {
  readonly #options: PoolOptions;
  readonly #affinity = new ConversationAffinity();
  /** The endpoints of each base URL by their address; the endpoint of the name itself has an empty one. */
  readonly #byUrl: Map<string, ReadonlyMap<string, Endpoint>>;
  /** Endpoints whose address is gone. They are closed when their last answer has ended. */
  #retired: readonly Endpoint[] = [];
  #resolving: Promise<unknown> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#byUrl = new Map(options.baseUrls.map((url) => [url, new Map([["", options.openEndpoint(url)]])]));
  }

  get #endpoints(): readonly Endpoint[] {
    return [...this.#byUrl.values()].flatMap((endpoints) => [...endpoints.values()]);
  }

  /** The endpoints that are not ejected. */
  get healthy(): readonly Endpoint[] {
    const now = performance.now();
    return this.#endpoints.filter((endpoint) => !endpoint.isEjected(now));
  }

  get hasChoice(): boolean {
    return this.#options.needsConversation === true || this.#endpoints.length > 1;
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

  /**
   * Resolves the host names again. A name that cannot be resolved keeps its endpoints.
   * @param signal ends the wait for a slow resolver, whose result is used when it comes
   */
  async resolveNames(signal: AbortSignal): Promise<void> {
    const { baseUrls, lookup } = this.#options;
    if (!lookup) return;
    this.#resolving ??= Promise.allSettled(
      baseUrls.map(async (url) => this.#replace(url, (await findAddresses(url, lookup)) ?? [""])),
    ).finally(() => void (this.#resolving = undefined));
    await Promise.race([this.#resolving, once(signal, "abort")]);
    const idle = this.#retired.filter(({ inFlight }) => inFlight === 0);
    this.#retired = this.#retired.filter((endpoint) => !idle.includes(endpoint));
    await Promise.all(idle.map((endpoint) => endpoint.connection.close()));
  }

  #replace(baseUrl: string, addresses: readonly string[]): void {
    const old = this.#byUrl.get(baseUrl);
    const open = (address: string): Endpoint => this.#options.openEndpoint(baseUrl, address || undefined);
    const next = new Map(addresses.map((address) => [address, old?.get(address) ?? open(address)]));
    this.#byUrl.set(baseUrl, next);
    for (const [address, endpoint] of old ?? []) if (!next.has(address)) this.#retired = [...this.#retired, endpoint];
  }

  /** Checks which endpoints answer, also while there are no requests. */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await this.resolveNames(signal);
    await Promise.allSettled(this.healthy.map((endpoint) => endpoint.read("/v1/models", signal)));
  }

  open(path: string, body: string, signal: AbortSignal, delivery: RoutedDelivery): Promise<EventBatches> {
    return this.#withFailover((endpoint) => endpoint.open(path, body, signal, delivery), delivery.conversation);
  }

  read(path: string, signal: AbortSignal, body?: string): Promise<string> {
    return this.#withFailover((endpoint) => endpoint.read(path, signal, body));
  }

  async close(): Promise<void> {
    const all = [...this.#endpoints, ...this.#retired];
    await Promise.all(all.map((endpoint) => endpoint.connection.close()));
  }

  /** Another endpoint is tried only if no part of an answer has arrived. */
  async #withFailover<T>(ask: (endpoint: Endpoint) => Promise<T>, conversation?: Conversation): Promise<T> {
    const tried = new Set<Endpoint>();
    let failure: unknown;
    for (let next = this.#choose(tried, conversation); next; next = this.#choose(tried, conversation)) {
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

  #choose(tried: ReadonlySet<Endpoint>, conversation: Conversation | undefined): Endpoint | undefined {
    const untried = this.healthy.filter((endpoint) => !tried.has(endpoint));
    if (conversation) return this.#affinity.choose(untried, conversation);
    return untried.toSorted((a, b) => a.inFlight - b.inFlight || a.requestCount - b.requestCount)[0];
  }
}
