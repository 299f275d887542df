import { defaultTimings, neutralSampling } from "@parley/inference";
import type { EndpointAttempt, SupervisorReport } from "@parley/inference";
import type { ScriptedOptions } from "@parley/inference/scripted";
import type { Config } from "../config/read-config.ts";
import { isDemo } from "../config/read-models.ts";
import type { ModelConfig } from "../config/read-models.ts";

export interface EngineOptions {
  readonly model: ModelConfig;
  readonly config: Config;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  /** Derives the cache salts that keep the cached prompts of one key apart from those of another. */
  readonly cacheSecret: Uint8Array;
  readonly report: (event: SupervisorReport) => void;
  /** Receives the end of every generation that an endpoint of a remote model was asked for. */
  readonly countAttempt: CountAttempt;
}

export type CountAttempt = (model: string, attempt: EndpointAttempt) => void;

/** Small models give more correct answers at a low temperature, and the penalty stops repetitions. */
const demoSampling = { ...neutralSampling, temperature: 0.3, frequency_penalty: 0.1 };

/**
 * The line with which the demonstration models were trained to read a schema (`demo-models/training/chat.py`). Without it,
 * they complete only half as many JSON answers.
 */
const demoSchemaPrompt = "Reply with JSON of this schema: {schema}";

type CommonOptions = Pick<ScriptedOptions, "name" | "runFolder" | "timings" | "report" | "sampling" | "schemaPrompt">;

/** Returns the options that all drivers share. */
export function commonOptions({ model, config, runFolder, report }: EngineOptions): CommonOptions {
  const timings = { ...defaultTimings, stallMs: config.engineStallMs, unansweredMs: config.engineSilenceMs };
  const sampling: CommonOptions["sampling"] = Object.assign(
    {},
    isDemo(model) ? demoSampling : neutralSampling,
    model.sampling,
  );
  const schemaPrompt = model.schemaPrompt ?? (isDemo(model) ? demoSchemaPrompt : undefined);
  return { name: model.id, runFolder, timings, report, sampling, schemaPrompt };
}
