import type { SupervisorReport } from "@parley/inference";
import type { Config } from "../config/read-config.ts";
import { contextLengthOf } from "./model-object.ts";
import type { EngineSlots, ModelQueue } from "./model-queue.ts";
import type { ServedModel } from "./served-model.ts";
import { startEngine } from "./start-engine.ts";

/** What all models are started with. */
export interface StartOptions {
  readonly config: Config;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  /** Receives every change of an engine's state. */
  readonly report: (event: SupervisorReport) => void;
  /** Makes the queue of a model. `engine` gives the slots of its engine. */
  readonly makeQueue: (engine: () => EngineSlots) => ModelQueue;
}

/** Starts the engine of every model; each becomes ready, or not, on its own. @throws {ConfigError} */
export const startModels = (options: StartOptions): ServedModel[] =>
  options.config.models.map((model) => {
    const engine = startEngine({ ...options, model });
    return { ...model, engine, queue: options.makeQueue(() => engine.metadata ?? { slots: 1 }) };
  });

/** For the start: what each ready model turned out to be. */
export const summarize = (model: ServedModel): string =>
  `ready, ${model.engine.metadata?.quantization}, context ${contextLengthOf(model)} tokens, ${model.engine.metadata?.description}`;
