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
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/read-config.ts";
import type { EmbeddedConfig, RemoteConfig, ScriptedConfig, VllmConfig } from "../config/read-engine.ts";
import { isDemo } from "../config/read-models.ts";
import type { ModelConfig } from "../config/read-models.ts";
import { demoFolder, findDemoModel } from "./demo-models.ts";

export interface EngineOptions {
  readonly model: ModelConfig;
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

/** As they are taught to read a schema (`demo-models/training/chat.py`). Without it half as much of their JSON comes to an end. */
const demoSchemaPrompt = "Reply with JSON of this schema: {schema}";

/** Starts what serves a model. @throws {ConfigError} where a file that it needs is missing or damaged */
export function startEngine(options: EngineOptions): Engine {
  const { engineConfig } = options.model;
  switch (engineConfig.driver) {
    case "embedded":
      return startEmbedded(options, engineConfig);
    case "scripted":
      return startScripted(options, engineConfig);
    case "vllm-process":
      return startVllmProcess(vllmSettings(options, engineConfig)).engine;
    case "vllm-container":
      return startVllmContainer({ ...vllmSettings(options, engineConfig), image: engineConfig.image }).engine;
    case "remote":
      return startRemote(options, engineConfig);
  }
}

function startScripted(options: EngineOptions, { script }: ScriptedConfig): Engine {
  const { contextLength } = options.model;
  return startScriptedEngine({
    ...common(options),
    ...(contextLength !== undefined && { metadata: { context_length: contextLength } }),
    scriptFile: assertScript(script),
  });
}

function startEmbedded(options: EngineOptions, config: EmbeddedConfig): Engine {
  const model = embeddedModel(options, config);
  return startEmbeddedEngine({ ...common(options), model, weightsId: model.sha256 ?? identify(model.file) });
}

/** What an embedded model is started with. */
export function embeddedModel(
  options: EngineOptions,
  { weights, kvMemoryMb, threads }: EmbeddedConfig,
): Parameters<typeof startEmbeddedEngine>[0]["model"] {
  const { contextLength } = options.model;
  const kvMemoryBytes = kvMemoryMb * 2 ** 20;
  const promptThreads = threads === "auto" ? availableParallelism() : threads;
  if ("path" in weights) {
    // More threads than free processors make llama.cpp hundreds of times slower.
    const most = threads === "auto" ? Math.max(1, availableParallelism() - 1) : threads;
    return { file: weights.path, sha256: undefined, contextLength, kvMemoryBytes, threads: most, promptThreads };
  }
  const { file, sha256 } = findDemoModel(weights.demo);
  return { file, sha256, contextLength, kvMemoryBytes, threads: threads === "auto" ? 1 : threads, promptThreads };
}

/** What a model is served with by vLLM on this machine. */
export function vllmSettings(
  options: EngineOptions,
  { weights, slots, given }: VllmConfig,
): Parameters<typeof startVllmProcess>[0] {
  const { model, config } = options;
  const place = config.models.indexOf(model);
  return {
    ...common(options),
    timings: { ...patientTimings, stallMs: config.engineStallMs },
    weights: "path" in weights ? weights.path : demoFolder(weights.demo, config.dataDir),
    vllm: config.vllm,
    installFolder: join(config.dataDir, "vllm"),
    stateFolder: join(config.dataDir, "engines"),
    contextLength: model.contextLength,
    slots,
    kvMemoryMb: given.kv_memory_mb,
    cpuKvMemoryMb: config.kvMemoryMb,
    gpus: given.gpus,
    gpuMemoryShare: given.gpu_memory_share,
    tensorParallel: given.tensor_parallel,
    cores: given.cores ?? coresFor(place, config.models.length, availableParallelism()),
    extraArguments: given.arguments ?? [],
  };
}

function startRemote(options: EngineOptions, { urls, tokenizer, apiKey, slots, given }: RemoteConfig): Engine {
  const { id, contextLength } = options.model;
  return startRemoteEngine({
    ...common(options),
    servedName: given.model ?? id,
    baseUrls: urls,
    tokenizerFolder: tokenizer,
    headers: given.headers ?? {},
    bearer: apiKey,
    caFile: given.ca_file,
    proxyUrl: given.proxy,
    contextLength,
    slots,
    protocol: given.protocol,
  });
}

type CommonOptions = Pick<
  Parameters<typeof startScriptedEngine>[0],
  "name" | "runFolder" | "timings" | "report" | "sampling" | "schemaPrompt"
>;

function common({ model, config, runFolder, report }: EngineOptions): CommonOptions {
  const timings = { ...defaultTimings, stallMs: config.engineStallMs, unansweredMs: config.engineSilenceMs };
  const sampling: CommonOptions["sampling"] = Object.assign(
    {},
    isDemo(model) ? demoSampling : plainSampling,
    model.sampling,
  );
  const schemaPrompt = model.schemaPrompt ?? (isDemo(model) ? demoSchemaPrompt : undefined);
  return { name: model.id, runFolder, timings, report, sampling, schemaPrompt };
}

/** A script that cannot be read is reported before its engine dies of it, again and again. @throws {ConfigError} */
function assertScript(script: string | undefined): string | undefined {
  try {
    if (script !== undefined) JSON.parse(readFileSync(script, "utf8"));
    return script;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`The script ${script} must be a JSON file that can be read (${reason})`]);
  }
}

/** Stands for the contents of a large file: hashing it would take longer than loading it. */
function identify(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return `${file} ${stats?.size} ${stats?.mtimeMs}`;
}
