import { probeRequest } from "../child/probe.ts";
import { EngineError } from "../engine.ts";
import type { Engine, EngineEvent, EngineMetadata, EngineGauges, EngineRequest, EngineState } from "../engine.ts";
import { Workload } from "../sidecar/workload.ts";
import { asEngineError } from "./dialect/engine-failure.ts";
import { generate } from "./generate.ts";
import type { Served } from "./generate.ts";
import type { OpenModel } from "./model/open-model.ts";
import type { Upstream } from "./upstream.ts";

/** Who sees to it that the engine runs, or watches one that others run. */
export interface Keeper {
  readonly state: EngineState;
  readonly reason: string;
  readonly metadata: EngineMetadata | undefined;
  readonly restarts: number;
  whenReady(): Promise<void>;
  /** From here on nobody should give it new work. */
  drain(): void;
  close(graceMs: number): Promise<void>;
}

export interface VllmEngineOptions {
  /** The name that the engine serves the model under. */
  readonly servedName: string;
  readonly upstream: Upstream;
  /** Undefined until its files have been read. */
  readonly model: () => OpenModel | undefined;
  readonly keeper: Keeper;
  /** How it is asked; absent: by token ids. */
  readonly generate?: typeof generate;
}

/** A model that vLLM serves, wherever it runs, or that somebody serves in its way. */
export class VllmEngine implements Engine {
  readonly #options: VllmEngineOptions;
  readonly #workload = new Workload();

  constructor(options: VllmEngineOptions) {
    this.#options = options;
  }

  get state(): EngineState {
    return this.#options.keeper.state;
  }

  get stateReason(): string {
    return this.#options.keeper.reason;
  }

  get metadata(): EngineMetadata | undefined {
    return this.#options.keeper.metadata;
  }

  async *stream(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const { servedName, upstream, generate: ask = generate } = this.#options;
    const served = { model: this.#readyModel(), servedName, upstream, limits: this.metadata };
    yield* this.#workload.count(request.n, ask(served, request, signal));
  }

  async countTokens(request: EngineRequest, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    try {
      return (await this.#readyModel().prompts.render(request)).tokens.length;
    } catch (error) {
      throw asEngineError(error);
    }
  }

  gauges(): EngineGauges {
    return {
      running: this.#workload.running,
      restarts: this.#options.keeper.restarts,
      aborted: this.#workload.aborted,
    };
  }

  whenReady(): Promise<void> {
    return this.#options.keeper.whenReady();
  }

  /** Resolves when nothing is under way, or after so long. */
  untilIdle(patienceMs: number): Promise<void> {
    return this.#workload.untilIdle(patienceMs);
  }

  async close(graceMs: number): Promise<void> {
    const { keeper, upstream, model } = this.#options;
    keeper.drain();
    await this.#workload.untilIdle(graceMs);
    await keeper.close(graceMs);
    await upstream.close();
    await model()?.prompts.close();
  }

  #readyModel(): OpenModel {
    const model = this.#options.model();
    if (this.state === "ready" && model) return model;
    throw new EngineError("unavailable", `the engine is ${this.state}`);
  }
}

/** Makes the engine produce one real token. @throws {EngineError} */
export async function probe(
  served: Omit<Served, "limits">,
  signal: AbortSignal,
  ask: typeof generate = generate,
): Promise<void> {
  for await (const event of ask({ ...served, limits: undefined }, probeRequest, signal)) {
    if (event.usage.completion_tokens > 0) return;
  }
  throw new EngineError("protocol", "the probe produced no token");
}
