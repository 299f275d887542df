import type { Engine, EngineGauges } from "@parley/inference";
import type { ProcessState } from "@parley/inference/embedded";
import type { ModelConfig } from "../config/read-models.ts";
import type { CountAttempt } from "../models/engine-options.ts";
import { startEngine } from "../models/start-engine.ts";
import type { ServedModel } from "../models/served-model.ts";
import type { EngineNews, ParentNews, WorkerSetup } from "./process-calls.ts";
import type { RemoteSlots } from "./remote-state.ts";

/** The functions of the parent process that the models of a worker process call. */
export interface ModelsParent {
  /** Checks an engine that seems to be dead. */
  confirmFailure(model: string): Promise<void>;
  readonly countAttempt: CountAttempt;
}

/** The models of a worker: their engines run in processes of the parent, or at an address that others serve. */
export class ConnectedModels implements AsyncDisposable {
  readonly served: ServedModel[];
  readonly #followed: ReadonlyMap<string, FollowedEngine>;

  constructor(served: ServedModel[], followed: ReadonlyMap<string, FollowedEngine>) {
    this.served = served;
    this.#followed = followed;
  }

  /** Takes the states of the parent's engines. */
  hear({ engines }: ParentNews): void {
    for (const [id, news] of Object.entries(engines)) this.#followed.get(id)?.hear(news);
  }

  async whenReady(ids: readonly string[]): Promise<void> {
    const wanted = this.served.filter(({ id }) => ids.includes(id));
    await Promise.all(wanted.map(({ engine }) => engine.whenReady()));
  }

  gauges(): Record<string, EngineGauges> {
    return Object.fromEntries(this.served.map(({ id, engine }) => [id, engine.gauges()]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.served.map(({ engine }) => engine.close(2000)));
  }
}

/** Connects to the engines of all models. */
export async function connectModels(
  setup: WorkerSetup,
  slots: RemoteSlots,
  parent: ModelsParent,
): Promise<ConnectedModels> {
  const followed = new Map<string, FollowedEngine>();
  const served = await Promise.all(
    setup.config.models.map(async (model) => {
      const engine = await connectEngine(setup, model, parent.countAttempt, () => {
        const one = new FollowedEngine(() => parent.confirmFailure(model.id));
        followed.set(model.id, one);
        return one;
      });
      return { ...model, engine, queue: slots.queueOf(model.id) };
    }),
  );
  return new ConnectedModels(served, followed);
}

/** A remote engine has its own connections in each worker. All others are processes of the parent. */
async function connectEngine(
  { config, runFolder, cacheSecret }: WorkerSetup,
  model: ModelConfig,
  countAttempt: CountAttempt,
  follow: () => FollowedEngine,
): Promise<Engine> {
  if (model.engineConfig.driver === "remote")
    // The parent reports the states of its own connections.
    return startEngine({ model, config, runFolder, cacheSecret, report: () => undefined, countAttempt });
  const { ConnectedEngine } = await import("@parley/inference/embedded");
  const followed = follow();
  return new ConnectedEngine({ name: model.id, runFolder }, () => followed);
}

const unheard: EngineNews = { state: "absent", reason: "", metadata: undefined, restarts: 0, isStalled: false };

/** The process of an engine of the parent, as the parent last described it. */
class FollowedEngine implements ProcessState {
  readonly #check: () => Promise<void>;
  #news = unheard;
  #waiting: (() => void)[] = [];

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  hear(news: EngineNews): void {
    this.#news = news;
    if (news.state === "ready") for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get state(): EngineNews["state"] {
    return this.#news.state;
  }

  get reason(): string {
    return this.#news.reason;
  }

  get metadata(): EngineNews["metadata"] {
    return this.#news.metadata;
  }

  get restarts(): number {
    return this.#news.restarts;
  }

  get isStalled(): boolean {
    return this.#news.isStalled;
  }

  confirmFailure(): Promise<void> {
    return this.#check();
  }

  async whenReady(): Promise<void> {
    if (this.state !== "ready") await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }
}
