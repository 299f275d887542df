import { Big } from "big.js";
import { findFrontCollisions } from "./check-front.ts";
import { defaultNames, defaultsOf, demoModels, stubDescription } from "./default-models.ts";
import type { DemoName, ModelSettings, ReasoningEffort } from "./model-settings.ts";
import { readEngine } from "./read-engine.ts";
import type { EngineConfig } from "./read-engine.ts";
import type { Reading } from "./reading.ts";

/** The configuration of a served model: its settings and defaults. */
export interface ModelConfig {
  /** Its key in the file. */
  readonly name: string;
  /** `<vendor prefix>/<name>` */
  readonly id: string;
  /** The vendor prefix of the id. */
  readonly ownedBy: string;
  readonly aliases: readonly string[];
  /** The part of the id after its first slash; undefined if callers may not omit the vendor prefix. */
  readonly shortName: string | undefined;
  /** `<vendor label>: <label>` */
  readonly displayName: string;
  readonly description: string;
  /** Tokens of the longest prompt in training; undefined if unknown. */
  readonly trainedPromptTokens: number | undefined;
  /** Creation time in seconds of Unix time. */
  readonly created: number;
  /** US dollars as decimal strings: per token, per image, per request. */
  readonly pricing: Readonly<Record<"prompt" | "completion" | "image" | "request", string>> & {
    /** Absent: cached tokens cost as much as the others. */
    readonly input_cache_read?: string;
  };
  /** Context window in tokens; undefined: as its files declare. */
  readonly contextLength: number | undefined;
  /** Maximum number of completion tokens of one choice. The context window is also a limit. */
  readonly maxCompletionTokens: number;
  readonly defaultReasoningEffort: ReasoningEffort;
  /** Undefined: as the engine reports. */
  readonly quantization: string | undefined;
  readonly huggingFaceId: string | undefined;
  /** `YYYY-MM-DD`. */
  readonly deprecationDate: string | undefined;
  /** The line of the system message that shows a schema to the model; undefined: schemas are not shown. */
  readonly schemaPrompt: string | undefined;
  /** Sampling values of requests that set none. */
  readonly sampling: NonNullable<ModelSettings["sampling"]>;
  readonly engineConfig: EngineConfig;
}

/** The value of `models` in the file. */
export type ModelsGiven = Readonly<Record<string, ModelSettings | null>>;

/** Returns the models in the order of the listing: those in the file, or the default models. */
export function readModels(given: ModelsGiven | undefined, reading: Reading): ModelConfig[] {
  const entries = Object.entries(given ?? Object.fromEntries(defaultNames.map((name) => [name, null])));
  if (entries.length === 0) reading.faults.push("models must name at least one model");
  const models = entries.flatMap(([name, own]) => readModel(name, own ?? {}, reading) ?? []);
  reading.faults.push(...findCollisions(models), ...findFrontCollisions(models));
  return models;
}

function readModel(name: string, given: ModelSettings, reading: Reading): ModelConfig | undefined {
  const { vendor, vendorLabel, shortNames } = reading.settings;
  const defaults = defaultsOf(name);
  const engineConfig = readEngine({ name, given, demo: defaults.demo }, reading);
  const pricing = readPricing(name, { ...defaults.pricing, ...given.pricing }, reading);
  if (!engineConfig || !pricing) return undefined;
  const id = given.id ?? `${vendor}/${name}`;
  return {
    name,
    id,
    ownedBy: id.slice(0, id.indexOf("/")),
    aliases: given.aliases ?? [],
    shortName: shortNames === "on" ? id.slice(id.indexOf("/") + 1) : undefined,
    displayName: `${vendorLabel}: ${given.label ?? defaults.label}`,
    description: given.description ?? describeEngine(engineConfig) ?? defaults.description,
    trainedPromptTokens: given.trained_prompt_tokens ?? demoOf(engineConfig)?.trainedPromptTokens,
    created: given.created ?? defaults.created,
    pricing,
    contextLength: given.context_length,
    maxCompletionTokens: given.max_completion_tokens ?? defaults.max_completion_tokens,
    defaultReasoningEffort: given.default_reasoning_effort ?? defaults.default_reasoning_effort,
    quantization: given.quantization,
    huggingFaceId: given.hugging_face_id,
    deprecationDate: given.deprecation_date,
    schemaPrompt: given.schema_prompt,
    sampling: given.sampling ?? {},
    engineConfig,
  };
}

function readPricing(
  name: string,
  pricing: NonNullable<ModelSettings["pricing"]>,
  { faults }: Reading,
): ModelConfig["pricing"] | undefined {
  const { prompt, completion, image = "0", request = "0", input_cache_read: cached } = pricing;
  for (const [key, price] of Object.entries({ prompt, completion })) {
    if (price === undefined)
      faults.push(`models.${name}.pricing.${key} is missing: set the price of a token; "0" is free`);
  }
  if (prompt === undefined || completion === undefined) return undefined;
  if (cached !== undefined && new Big(cached).gt(prompt)) {
    faults.push(
      `models.${name}.pricing.input_cache_read is ${cached}, more than the price of a prompt token, ${prompt}: ` +
        "budgets hold the price of a prompt before it is known which tokens are cached",
    );
    return undefined;
  }
  return { prompt, completion, image, request, ...(cached !== undefined && { input_cache_read: cached }) };
}

/** Returns the description of a stub or a demonstration model; undefined for the operator's models. */
function describeEngine(engine: EngineConfig): string | undefined {
  if (engine.driver === "scripted") return stubDescription;
  return demoOf(engine)?.description;
}

const demoOf = (engine: EngineConfig): (typeof demoModels)[DemoName] | undefined =>
  "weights" in engine && "demo" in engine.weights ? demoModels[engine.weights.demo] : undefined;

/** Checks whether a model is one of the repository's demonstration models. */
export const isDemo = ({ engineConfig }: ModelConfig): boolean => demoOf(engineConfig) !== undefined;

/** Returns a fault for each id or alias that two models share. */
export function findCollisions(models: readonly ModelConfig[]): string[] {
  const owners = new Map<string, string>();
  return models.flatMap(({ name, id, aliases }) =>
    [id, ...aliases].flatMap((asked) => {
      const owner = owners.get(asked);
      owners.set(asked, owner ?? name);
      return owner === undefined ? [] : [`models.${name} and models.${owner} are both asked for as ${asked}`];
    }),
  );
}
