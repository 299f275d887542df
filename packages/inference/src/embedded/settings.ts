import type { Sampling } from "../engine.ts";
import type { ModelSettings } from "./plan-slots.ts";

/** The settings that the process of one embedded model receives. */
export interface EmbeddedChildSettings {
  readonly socketPath: string;
  readonly model: ModelSettings;
  /** The sampling values that apply where a request names none. */
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The line that shows the model a schema; undefined: none does. */
  readonly schemaPrompt?: string | undefined;
  /** Identifies the weights: a hash of the file, or of what stands for it. */
  readonly weightsId: string;
}
