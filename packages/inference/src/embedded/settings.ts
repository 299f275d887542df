import type { Sampling } from "../engine.ts";
import type { ModelSettings } from "./plan-slots.ts";

/** The settings that the process of one embedded model receives. */
export interface EmbeddedChildSettings {
  readonly socketPath: string;
  readonly model: ModelSettings;
  /** The default sampling values. */
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The prompt line that shows the model a schema; undefined: schemas are not shown. */
  readonly schemaPrompt?: string | undefined;
  /** Identifies the weights: a hash of the file, or of its name, size and time. */
  readonly weightsId: string;
}
