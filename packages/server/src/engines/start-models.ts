import type { SupervisorReport } from "@parley/inference";
import type { Config } from "../config/read-config.ts";
import { contextLengthOf } from "./model-object.ts";
import { ModelQueue } from "./model-queue.ts";
import type { ServedModel } from "./served-model.ts";
import { startEngine } from "./start-engine.ts";

/** What all models are started with. */
export interface StartOptions {
  readonly config: Config;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  /** At least 32 bytes that only this installation knows. */
  readonly cacheSecret: Uint8Array;
  /** Receives every change of an engine's state. */
  readonly report: (event: SupervisorReport) => void;
}

/** Starts the engine of every model; each becomes ready, or not, on its own. @throws {ConfigError} */
export async function startModels(options: StartOptions): Promise<ServedModel[]> {
  const { queueLength: maxWaiting, queueWaitMs: maxWaitMs, models } = options.config;
  return Promise.all(
    models.map(async (model) => {
      const engine = await startEngine({ ...options, model });
      return {
        ...model,
        engine,
        queue: new ModelQueue({ maxWaiting, maxWaitMs }, () => engine.metadata ?? { slots: 1 }),
      };
    }),
  );
}

/** For the start: what each ready model turned out to be. */
export const summarize = (model: ServedModel): string =>
  `ready, ${model.engine.metadata?.quantization}, context ${contextLengthOf(model)} tokens, ${model.engine.metadata?.description}`;
