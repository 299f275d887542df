import { transform } from "../wire/transform.ts";
import { EngineError } from "../engine.ts";
import type {
  Engine,
  EngineEvent,
  EngineMetadata,
  EngineGauges,
  EngineRequest,
  EngineState,
  PreparedPrompt,
} from "../engine.ts";
import type { OpenModel } from "../model-folder/open-model.ts";
import { assertFits, preparedTooLong } from "../answer/assert-fits.ts";
import { maxCounted } from "../prompt/max-counted.ts";
import { PromptTooLongError } from "../prompt/prompt-too-long.ts";
import { asStall } from "../supervision/as-stall.ts";
import { confirmFailure } from "../supervision/confirm-failure.ts";
import type { Confirming } from "../supervision/confirm-failure.ts";
import { Workload } from "../supervision/workload.ts";
import { asEngineError } from "./engine-failure.ts";
import type { CacheSalter } from "./cache-salt.ts";
import type { ProtocolAdapter } from "./protocol-adapter.ts";
import type { Front } from "./fronts.ts";
import type { Upstream } from "./upstream.ts";

/** Keeps our upstream running, or watches one that others run. */
export interface EngineLifecycle extends Confirming {
  readonly state: EngineState;
  readonly reason: string;
  readonly metadata: EngineMetadata | undefined;
  readonly restarts: number;
  /** True from the end of a process that made no progress until the next one starts. */
  readonly isStalled: boolean;
  whenReady(): Promise<void>;
  /** After this call the upstream gets no new work. */
  drain(): void;
  close(graceMs: number): Promise<void>;
}

export interface OpenAiEngineOptions {
  /** The name that the upstream serves the model under. */
  readonly servedName: string;
  readonly upstream: Upstream;
  readonly saltOf: CacheSalter | undefined;
  readonly front?: Front;
  readonly adapter: ProtocolAdapter;
  /** Undefined until its files have been read. */
  readonly model: () => OpenModel | undefined;
  readonly lifecycle: EngineLifecycle;
}

/** A model behind an OpenAI-compatible API, run by this server or by others. */
export class OpenAiEngine implements Engine {
  readonly #options: OpenAiEngineOptions;
  readonly #workload = new Workload();

  constructor(options: OpenAiEngineOptions) {
    this.#options = options;
  }

  get state(): EngineState {
    return this.#options.lifecycle.state;
  }

  get stateReason(): string {
    return this.#options.lifecycle.reason;
  }

  get metadata(): EngineMetadata | undefined {
    return this.#options.lifecycle.metadata;
  }

  async prepare(request: EngineRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    signal.throwIfAborted();
    try {
      return this.#watched(await this.#render(request, signal), request.n, signal);
    } catch (error) {
      if (error instanceof PromptTooLongError) return preparedTooLong(error);
      throw signal.aborted ? signal.reason : asEngineError(error);
    }
  }

  #render(request: EngineRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    const { servedName, upstream, saltOf, front, adapter } = this.#options;
    const served = { model: this.#readyModel(), servedName, upstream, saltOf, ...(front && { front }) };
    return adapter.prepare(served, request, signal, maxCounted(this.metadata?.contextLength));
  }

  /** Checks that the answer fits and counts it as running, and explains its failures by the state of the engine. */
  #watched(prompt: PreparedPrompt, n: number, signal: AbortSignal): PreparedPrompt {
    const { lifecycle } = this.#options;
    return {
      tokens: prompt.tokens,
      stream: (constraints) =>
        transform(() => {
          this.#readyModel();
          assertFits(prompt.tokens, constraints.maxTokens, this.metadata?.contextLength);
          return {
            source: prompt.stream(constraints),
            transform: this.metadata?.promptCache?.isShared === true ? hideCachedTokens : (events) => events,
            onEnd: this.#workload.begin(n),
            explain: async (failure) => {
              if (!signal.aborted) await confirmFailure(failure, lifecycle);
              return asStall(failure, lifecycle.isStalled);
            },
          };
        }),
    };
  }

  gauges(): EngineGauges {
    return {
      running: this.#workload.running,
      restarts: this.#options.lifecycle.restarts,
      aborted: this.#workload.aborted,
      ejected: this.#options.upstream.ejected,
    };
  }

  whenReady(): Promise<void> {
    return this.#options.lifecycle.whenReady();
  }

  /** Resolves when no choice is running, or after the time-out. */
  untilIdle(timeoutMs: number): Promise<void> {
    return this.#workload.untilIdle(timeoutMs);
  }

  async close(graceMs: number): Promise<void> {
    const { lifecycle, upstream, model } = this.#options;
    lifecycle.drain();
    await this.#workload.untilIdle(graceMs);
    await lifecycle.close(graceMs);
    await upstream.close();
    await model()?.prompts.close();
  }

  #readyModel(): OpenModel {
    const model = this.#options.model();
    if (this.state === "ready" && model) return model;
    throw new EngineError("unavailable", `the engine is ${this.state}`);
  }
}

/**
 * Hides the cached tokens of an engine whose prompt cache keys share: they would show one key which prompts another has sent.
 */
const hideCachedTokens = (events: readonly EngineEvent[]): readonly EngineEvent[] =>
  events.map((event) => (event.kind === "usage" ? { ...event, usage: { ...event.usage, cachedTokens: 0 } } : event));
