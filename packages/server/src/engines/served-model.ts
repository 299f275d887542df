import type { Engine } from "@parley/inference";
import type { ModelSettings } from "../config/model-settings.ts";
import type { ModelQueue } from "./model-queue.ts";
import type { Pricing } from "../metering/price.ts";

/** A model that is offered: what is said of it, what it costs, what generates, and who waits for it. */
export interface ServedModel {
  /** `<vendor>/<model>`. */
  readonly id: string;
  readonly ownedBy: string;
  readonly name: string;
  readonly description: string;
  readonly pricing: Pricing;
  /** Tokens: what the record says until the engine has loaded the model and knows. */
  readonly declaredContextLength: number;
  readonly settings: ModelSettings;
  readonly engine: Engine;
  readonly queue: ModelQueue;
}
