import { availableParallelism } from "node:os";
import { readFileSync, statSync } from "node:fs";
import { defaultTimings, startEmbeddedEngine, startScriptedEngine } from "@parley/inference";
import type { Engine, Sampling, SupervisorReport } from "@parley/inference";
import { modelNames } from "../config/model-settings.ts";
import type { ModelName, ModelSettings } from "../config/model-settings.ts";
import { ConfigError } from "../config/read-config.ts";
import type { Config } from "../config/read-config.ts";
import type { ModelQueue } from "../limits/model-queue.ts";
import type { Pricing } from "../metering/price.ts";
import { contextLengthOf } from "./model-record.ts";
import { findDemoModel } from "./demo-models.ts";
import type { ServedModel } from "./served-model.ts";
import contract from "../generated/contract.json" with { type: "json" };

/** The source's two models: labels and prices. */
const offers: Readonly<
  Record<
    ModelName,
    { readonly label: string; readonly pricing: Pricing; readonly gguf: "model1Gguf" | "model1MiniGguf" }
  >
> = {
  "model-1": {
    label: "Model 1",
    pricing: { prompt: "0.0000003", completion: "0.0000006", image: "0", request: "0" },
    gguf: "model1Gguf",
  },
  "model-1-mini": {
    label: "Model 1 Mini",
    pricing: { prompt: "0.0000002", completion: "0.0000004", image: "0", request: "0" },
    gguf: "model1MiniGguf",
  },
};

/** Neutral values: nothing but the model's own distribution. */
const plainSampling: Omit<Sampling, "logit_bias"> = {
  temperature: 1,
  top_p: 1,
  top_k: 0,
  min_p: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
};

/** Small models are right more often when they are not left to chance. */
const demoSampling = { ...plainSampling, temperature: 0.3 };

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
  const engine = startEngine(id, name, settings, options);
  return {
    id,
    ownedBy: config.vendor,
    name: `${config.vendorLabel}: ${settings.label ?? label}`,
    description: settings.description ?? describe(name, config),
    pricing: { ...pricing, ...settings.pricing },
    declaredContextLength: settings.context_length ?? contract["x-limits"].contextLengthTokens.value,
    settings,
    engine,
    queue: options.makeQueue(() => engine.facts?.slots ?? 1),
  };
}

function startEngine(
  id: string,
  name: ModelName,
  settings: ModelSettings,
  { config, runFolder, report }: StartOptions,
): Engine {
  const timings = { ...defaultTimings, stallMs: config.engineStallMs, unansweredMs: config.engineSilenceMs };
  const common = { name: id, runFolder, timings, report };
  const contextLength = settings.context_length;
  if (config.engine === "scripted") {
    const facts = contextLength === undefined ? {} : { facts: { context_length: contextLength } };
    const sampling = { ...plainSampling, ...settings.sampling };
    return startScriptedEngine({ ...common, ...facts, scriptFile: scriptOf(config), sampling });
  }
  const own = config[offers[name].gguf];
  const demo = own === undefined ? findDemoModel(name) : undefined;
  const file = demo?.file ?? own ?? "";
  const model = {
    file,
    sha256: demo?.sha256,
    contextLength,
    kvMemoryBytes: config.kvMemoryMb * 2 ** 20,
    threads: threadsFor(config, demo !== undefined),
  };
  const sampling = { ...(demo ? demoSampling : plainSampling), ...settings.sampling };
  return startEmbeddedEngine({ ...common, model, sampling, weightsId: demo?.sha256 ?? identify(file) });
}

/** A script that cannot be read is told before its engine dies of it, again and again. @throws {ConfigError} */
function scriptOf({ script }: Config): string | undefined {
  try {
    if (script !== undefined) JSON.parse(readFileSync(script, "utf8"));
    return script;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`PARLEY_SCRIPT must be a JSON file that can be read (${reason})`]);
  }
}

/** More threads than free processors make llama.cpp hundreds of times slower. */
function threadsFor(config: Config, isDemo: boolean): number {
  if (config.engineThreads !== "auto") return config.engineThreads;
  return isDemo ? 1 : Math.max(1, availableParallelism() - 1);
}

/** Stands for the contents of a large file: hashing it would take longer than loading it. */
function identify(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return `${file} ${stats?.size} ${stats?.mtimeMs}`;
}

const topics = "on-chain analysis, DeFi, smart contracts, DAOs, security, agent interaction and question answering";

function describe(name: ModelName, config: Config): string {
  if (config.engine === "scripted")
    return "A stub that plays a script. It is no language model; it is here to test clients.";
  if (config[offers[name].gguf] !== undefined) return `A language model specialised in Web3: ${topics}.`;
  const size = name === "model-1" ? "A small language model" : "A smaller language model, distilled from model-1,";
  return `Demonstration model. ${size} for Web3 questions: ${topics}. It knows little and is no substitute for the operator's model.`;
}

/** For the start: what each ready model turned out to be. */
export const summarize = (model: ServedModel): string =>
  `${model.id}: ready, ${model.engine.facts?.quantization}, context ${contextLengthOf(model)} tokens, ${model.engine.facts?.description}`;
