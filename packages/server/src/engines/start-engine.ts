import { availableParallelism } from "node:os";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  coresFor,
  defaultTimings,
  patientTimings,
  startEmbeddedEngine,
  startRemoteEngine,
  startScriptedEngine,
  startVllmContainer,
  startVllmProcess,
} from "@parley/inference";
import type { Engine, Sampling, SupervisorReport } from "@parley/inference";
import type { EngineDriver } from "../config/engine-options.ts";
import { modelNames } from "../config/model-settings.ts";
import type { ModelName, ModelSettings } from "../config/model-settings.ts";
import { ConfigError } from "../config/read-config.ts";
import type { Config } from "../config/read-config.ts";
import { demoFolder, findDemoModel } from "./demo-models.ts";

export interface EngineOptions {
  readonly id: string;
  readonly name: ModelName;
  readonly settings: ModelSettings;
  readonly config: Config;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  readonly report: (event: SupervisorReport) => void;
}

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

/** The settings that name each model's own files and addresses. */
const ownSettings = {
  "model-1": { gguf: "model1Gguf", weights: "model1Weights", url: "model1Url" },
  "model-1-mini": { gguf: "model1MiniGguf", weights: "model1MiniWeights", url: "model1MiniUrl" },
} as const;

export const driverOf = (config: Config, settings: ModelSettings): EngineDriver => settings.engine ?? config.engine;

/** Whether the demonstration model in the repository is served under this name. */
export function isDemo(name: ModelName, config: Config, settings: ModelSettings): boolean {
  const driver = driverOf(config, settings);
  if (driver === "embedded") return config[ownSettings[name].gguf] === undefined;
  return driver.startsWith("vllm-") && weightsOf(name, config, settings) === undefined;
}

const weightsOf = (name: ModelName, config: Config, settings: ModelSettings): string | undefined =>
  settings.weights ?? config[ownSettings[name].weights];

type CommonOptions = Pick<Parameters<typeof startScriptedEngine>[0], "name" | "runFolder" | "timings" | "report">;
type Starter = (options: EngineOptions) => Engine;

const starters: Readonly<Record<EngineDriver, Starter>> = {
  embedded: startEmbedded,
  scripted: startScripted,
  "vllm-process": (options) => startVllmProcess(vllmSettings(options)).engine,
  "vllm-container": startContainer,
  remote: startRemote,
};

/** @throws {ConfigError} */
export const startEngine: Starter = (options) => starters[driverOf(options.config, options.settings)](options);

function startScripted(options: EngineOptions): Engine {
  const { config, settings } = options;
  const contextLength = settings.context_length;
  const metadata = contextLength === undefined ? {} : { metadata: { context_length: contextLength } };
  return startScriptedEngine({
    ...common(options),
    ...metadata,
    scriptFile: scriptOf(config),
    sampling: samplingOf(options),
  });
}

function startEmbedded(options: EngineOptions): Engine {
  const { name, config, settings } = options;
  const own = config[ownSettings[name].gguf];
  const demo = own === undefined ? findDemoModel(name) : undefined;
  const file = demo?.file ?? own ?? "";
  const model = {
    file,
    sha256: demo?.sha256,
    contextLength: settings.context_length,
    kvMemoryBytes: config.kvMemoryMb * 2 ** 20,
    threads: threadsFor(config, demo !== undefined),
  };
  const weightsId = demo?.sha256 ?? identify(file);
  return startEmbeddedEngine({ ...common(options), model, sampling: samplingOf(options), weightsId });
}

/** What a model is served with by vLLM on this machine. */
export function vllmSettings(options: EngineOptions): Parameters<typeof startVllmProcess>[0] {
  const { name, config, settings } = options;
  return {
    ...common(options),
    timings: { ...patientTimings, stallMs: config.engineStallMs },
    weights: weightsOf(name, config, settings) ?? demoFolder(name),
    vllm: config.vllm,
    installFolder: join(config.dataDir, "vllm"),
    stateFolder: join(config.dataDir, "engines"),
    contextLength: settings.context_length,
    slots: settings.slots ?? config.engineSlots,
    kvMemoryMb: settings.kv_memory_mb,
    cpuKvMemoryMb: config.kvMemoryMb,
    gpus: settings.gpus,
    gpuMemoryShare: settings.gpu_memory_share,
    tensorParallel: settings.tensor_parallel,
    cores: settings.cores ?? coresFor(modelNames.indexOf(name), modelNames.length, availableParallelism()),
    extraArguments: settings.arguments ?? [],
    sampling: samplingOf(options),
  };
}

/** @throws {ConfigError} */
function startContainer(options: EngineOptions): Engine {
  const { vllmImage: image } = options.config;
  if (image !== undefined) return startVllmContainer({ ...vllmSettings(options), image }).engine;
  throw new ConfigError(['PARLEY_VLLM_IMAGE must name a container image with vLLM for the engine "vllm-container"']);
}

/** @throws {ConfigError} where it is not said where the model is, or how its text becomes tokens */
function startRemote(options: EngineOptions): Engine {
  const { id, name, config, settings } = options;
  const { remote = {} } = settings;
  const baseUrls = remote.urls ?? config[ownSettings[name].url];
  const tokenizerFolder = remote.tokenizer ?? weightsOf(name, config, settings);
  if (baseUrls.length === 0)
    throw new ConfigError([`${name} has the engine "remote" and no address: set models.${name}.remote.urls`]);
  if (tokenizerFolder === undefined) {
    throw new ConfigError([
      `${name} has the engine "remote" and no tokenizer: set models.${name}.remote.tokenizer to a folder with its tokenizer and chat template`,
    ]);
  }
  return startRemoteEngine({
    ...common(options),
    servedName: remote.model ?? id,
    baseUrls,
    tokenizerFolder,
    headers: remote.headers ?? {},
    bearer: config.upstreamApiKey,
    caFile: remote.ca_file,
    proxyUrl: remote.proxy,
    contextLength: settings.context_length,
    slots: settings.slots ?? config.engineSlots,
    protocol: remote.protocol,
    sampling: samplingOf(options),
  });
}

function common({ id, config, runFolder, report }: EngineOptions): CommonOptions {
  const timings = { ...defaultTimings, stallMs: config.engineStallMs, unansweredMs: config.engineSilenceMs };
  return { name: id, runFolder, timings, report };
}

function samplingOf({ name, config, settings }: EngineOptions): Omit<Sampling, "logit_bias"> {
  return { ...(isDemo(name, config, settings) ? demoSampling : plainSampling), ...settings.sampling };
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
function threadsFor(config: Config, isSmall: boolean): number {
  if (config.engineThreads !== "auto") return config.engineThreads;
  return isSmall ? 1 : Math.max(1, availableParallelism() - 1);
}

/** Stands for the contents of a large file: hashing it would take longer than loading it. */
function identify(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return `${file} ${stats?.size} ${stats?.mtimeMs}`;
}
