import type { SupervisorReport } from "@parley/inference";
import { modelNames } from "../config/model-settings.ts";
import type { ModelName, ModelSettings } from "../config/model-settings.ts";
import type { Config } from "../config/read-config.ts";
import type { ModelQueue } from "./model-queue.ts";
import type { Pricing } from "../metering/price.ts";
import { contextLengthOf } from "./model-record.ts";
import { driverOf, isDemo, startEngine } from "./start-engine.ts";
import type { ServedModel } from "./served-model.ts";
import contract from "../generated/contract.json" with { type: "json" };

/** The source's two models: labels and prices. */
const offers: Readonly<Record<ModelName, { readonly label: string; readonly pricing: Pricing }>> = {
  "model-1": {
    label: "Model 1",
    pricing: { prompt: "0.0000003", completion: "0.0000006", image: "0", request: "0" },
  },
  "model-1-mini": {
    label: "Model 1 Mini",
    pricing: { prompt: "0.0000002", completion: "0.0000004", image: "0", request: "0" },
  },
};

/** What all models are started with. */
export interface StartOptions {
  readonly config: Config;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  /** Hears of every change of an engine's state. */
  readonly report: (event: SupervisorReport) => void;
  /** The queue in front of a model whose engine has so many slots. */
  readonly makeQueue: (slots: () => number) => ModelQueue;
}

/** Starts the engine of every model; each becomes ready, or not, on its own. @throws {ConfigError} */
export const startModels = (options: StartOptions): ServedModel[] =>
  modelNames.map((name) => startModel(name, options));

function startModel(name: ModelName, options: StartOptions): ServedModel {
  const { config } = options;
  const settings = config.models[name] ?? {};
  const { label, pricing } = offers[name];
  const id = `${config.vendor}/${name}`;
  const engine = startEngine({ ...options, id, name, settings });
  return {
    id,
    ownedBy: config.vendor,
    name: `${config.vendorLabel}: ${settings.label ?? label}`,
    description: settings.description ?? describe(name, config, settings),
    pricing: { ...pricing, ...settings.pricing },
    declaredContextLength: settings.context_length ?? contract["x-limits"].contextLengthTokens.value,
    settings,
    engine,
    queue: options.makeQueue(() => engine.metadata?.slots ?? 1),
  };
}

const topics = "on-chain analysis, DeFi, smart contracts, DAOs, security, agent interaction and question answering";

function describe(name: ModelName, config: Config, settings: ModelSettings): string {
  if (driverOf(config, settings) === "scripted")
    return "A stub that plays a script. It is no language model; it is here to test clients.";
  if (!isDemo(name, config, settings)) return `A language model specialised in Web3: ${topics}.`;
  const size = name === "model-1" ? "A small language model" : "A smaller language model, distilled from model-1,";
  return `Demonstration model. ${size} for Web3 questions: ${topics}. It knows little and is no substitute for the operator's model.`;
}

/** For the start: what each ready model turned out to be. */
export const summarize = (model: ServedModel): string =>
  `${model.id}: ready, ${model.engine.metadata?.quantization}, context ${contextLengthOf(model)} tokens, ${model.engine.metadata?.description}`;
