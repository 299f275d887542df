import type { Engine } from "@parley/inference";
import type { ModelConfig } from "../config/read-models.ts";
import type { SlotQueue } from "./model-queue.ts";

/** A served model: its configuration with prices and limits, its engine and its queue. */
export interface ServedModel extends ModelConfig {
  readonly engine: Engine;
  readonly queue: SlotQueue;
}
