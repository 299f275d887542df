import type { SupervisorReport } from "@parley/inference";
import type { ServerRegister } from "../accounts/servers/server-register.ts";
import type { Config } from "../config/read-config.ts";
import type { CountAttempt } from "./engine-options.ts";
import { contextLengthOf } from "./model-object.ts";
import { ModelQueue } from "./model-queue.ts";
import type { EngineSlots, QueueBounds } from "./model-queue.ts";
import type { ServedModel } from "./served-model.ts";
import { SlotShares } from "./slot-shares.ts";
import { startEngine } from "./start-engine.ts";

/** The options that all models share. */
export interface StartOptions {
  readonly config: Config;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  /** At least 32 bytes that are secret to this installation. */
  readonly cacheSecret: Uint8Array;
  /** The servers that share the state with this one; undefined: it has a state of its own. */
  readonly register: ServerRegister | undefined;
  /** Receives every change of an engine's state. */
  readonly report: (event: SupervisorReport) => void;
  readonly countAttempt: CountAttempt;
}

/** A model with the queue of all requests for it. */
export interface StartedModel extends ServedModel {
  readonly queue: ModelQueue;
}

/** Starts the engine of every model, without waiting until it is ready. @throws {ConfigError} */
export async function startModels(options: StartOptions): Promise<StartedModel[]> {
  const { config } = options;
  const bounds = (): QueueBounds => ({ maxWaiting: config.queueLength, maxWaitMs: config.queueWaitMs });
  const shares = new SlotShares(options.register);
  return Promise.all(
    config.models.map(async (model) => {
      const engine = await startEngine({ ...options, model });
      const ownSlots = (): EngineSlots => shares.of(model.id, engine.metadata ?? { slots: 1 });
      const queue = new ModelQueue(bounds, ownSlots);
      shares.onChange(() => queue.admitWaiting());
      return { ...model, engine, queue };
    }),
  );
}

/** Returns the description of a ready model that is logged at the start. */
export const summarize = (model: ServedModel): string =>
  `ready, ${model.engine.metadata?.quantization}, context ${contextLengthOf(model)} tokens, ${model.engine.metadata?.description}`;
