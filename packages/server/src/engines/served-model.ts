import type { Engine } from "@parley/inference";
import type { ModelConfig } from "../config/read-models.ts";
import type { ModelQueue } from "./model-queue.ts";

/** A model that is offered: what is said of it, what it costs, what generates, and who waits for it. */
export interface ServedModel extends ModelConfig {
  readonly engine: Engine;
  readonly queue: ModelQueue;
}
