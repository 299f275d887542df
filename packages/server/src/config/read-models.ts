import { defaultNames, defaultsOf, demoModels, stubDescription } from "./default-models.ts";
import type { DemoName, ModelSettings, ReasoningEffort } from "./model-settings.ts";
import { readEngine } from "./read-engine.ts";
import type { EngineConfig } from "./read-engine.ts";
import type { Reading } from "./reading.ts";

/** A model as it is served: what was given, and the default of everything else. */
export interface ModelConfig {
  /** Its key in the file. */
  readonly name: string;
  /** `<vendor prefix>/<name>` */
  readonly id: string;
  /** The vendor prefix of the id. */
  readonly ownedBy: string;
  readonly aliases: readonly string[];
  /** The part of the id after its first slash; undefined: callers may not leave out the vendor prefix. */
  readonly shortName: string | undefined;
  /** `<vendor label>: <label>` */
  readonly displayName: string;
  readonly description: string;
  /** The tokens of the longest prompt that it was trained on; undefined: not known. */
  readonly trainedPromptTokens: number | undefined;
  /** Seconds of Unix time. */
  readonly created: number;
  /** US dollars as decimal strings: per token, per image, per request. */
  readonly pricing: Readonly<Record<"prompt" | "completion" | "image" | "request", string>>;
  /** Tokens; undefined: what its files declare. */
  readonly contextLength: number | undefined;
  /** Tokens of one choice; the context is a bound, too. */
  readonly maxCompletionTokens: number;
  readonly defaultReasoningEffort: ReasoningEffort;
  /** Undefined: what the engine reports. */
  readonly quantization: string | undefined;
  readonly huggingFaceId: string | undefined;
  /** `YYYY-MM-DD`. */
  readonly deprecationDate: string | undefined;
  /** The line that shows the model a schema; undefined: it is not shown. */
  readonly schemaPrompt: string | undefined;
  /** Values that apply where a request names none. */
  readonly sampling: NonNullable<ModelSettings["sampling"]>;
  readonly engineConfig: EngineConfig;
}

/** `models` of the file. */
export type ModelsGiven = Readonly<Record<string, ModelSettings | null>>;

/** The models in the order of the listing: those that are named, or the default ones. */
export function readModels(given: ModelsGiven | undefined, reading: Reading): ModelConfig[] {
  const entries = Object.entries(given ?? Object.fromEntries(defaultNames.map((name) => [name, null])));
  if (entries.length === 0) reading.faults.push("models must name at least one model");
  const models = entries.flatMap(([name, own]) => readModel(name, own ?? {}, reading) ?? []);
  reading.faults.push(...findCollisions(models));
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
  const { prompt, completion, image = "0", request = "0" } = pricing;
  for (const [key, price] of Object.entries({ prompt, completion })) {
    if (price === undefined)
      faults.push(`models.${name}.pricing.${key} is missing: set the price of a token; "0" is free`);
  }
  return prompt === undefined || completion === undefined ? undefined : { prompt, completion, image, request };
}

/** What callers are told where the engine is no language model of the operator's. */
function describeEngine(engine: EngineConfig): string | undefined {
  if (engine.driver === "scripted") return stubDescription;
  return demoOf(engine)?.description;
}

const demoOf = (engine: EngineConfig): (typeof demoModels)[DemoName] | undefined =>
  "weights" in engine && "demo" in engine.weights ? demoModels[engine.weights.demo] : undefined;

/** Whether a demonstration model of the repository is behind it. */
export const isDemo = ({ engineConfig }: ModelConfig): boolean => demoOf(engineConfig) !== undefined;

/** A caller asks for one name, so two models cannot share it. */
function findCollisions(models: readonly ModelConfig[]): string[] {
  const owners = new Map<string, string>();
  return models.flatMap(({ name, id, aliases }) =>
    [id, ...aliases].flatMap((asked) => {
      const owner = owners.get(asked);
      owners.set(asked, owner ?? name);
      return owner === undefined ? [] : [`models.${name} and models.${owner} are both asked for as ${asked}`];
    }),
  );
}
