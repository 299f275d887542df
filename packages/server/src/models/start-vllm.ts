import { availableParallelism } from "node:os";
import { join } from "node:path";
import { patientTimings } from "@parley/inference";
import type { Engine } from "@parley/inference";
import {
  ModelFolderError,
  coresFor,
  deriveModelFolder,
  startVllmContainer,
  startVllmProcess,
} from "@parley/inference/vllm";
import type { VllmProcessOptions } from "@parley/inference/vllm";
import { ConfigError } from "../config/config-error.ts";
import type { DemoName } from "../config/model-settings.ts";
import type { VllmConfig } from "../config/read-engine.ts";
import { demoModelsFolder, recordedHash } from "./demo-models.ts";
import { commonOptions } from "./engine-options.ts";
import type { EngineOptions } from "./engine-options.ts";

/** @throws {ConfigError} if a file that it needs is missing or damaged */
export function startVllm(options: EngineOptions, config: VllmConfig): Engine {
  const settings = vllmSettings(options, config);
  const { driver, image } = config;
  return (driver === "vllm-process" ? startVllmProcess(settings) : startVllmContainer({ ...settings, image })).engine;
}

/** Returns the settings of vLLM for a model on this machine. */
export function vllmSettings(options: EngineOptions, { weights, slots, given }: VllmConfig): VllmProcessOptions {
  const { model, config } = options;
  const place = config.models.indexOf(model);
  return {
    ...commonOptions(options),
    timings: { ...patientTimings, stallMs: config.engineStallMs },
    weights: "path" in weights ? weights.path : demoFolder(weights.demo, config.dataDir),
    vllm: config.vllm,
    installFolder: join(config.dataDir, "vllm"),
    stateFolder: join(config.dataDir, "engines"),
    contextLength: model.contextLength,
    cacheSecret: options.cacheSecret,
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

/**
 * Returns the folder of a demonstration model in the Hugging Face format, for engines that need it. At first use, its
 * weights are converted from the GGUF file and stored in the data folder, with tokenizer and template.
 * @throws {ConfigError} if `hashes.json` is missing, the weights are damaged or the data folder cannot be written
 */
function demoFolder(name: DemoName, dataDir: string): string {
  try {
    return deriveModelFolder({
      source: join(demoModelsFolder, name),
      gguf: `${name}.bf16.gguf`,
      sha256: recordedHash(`${name}/model.safetensors`),
      target: join(dataDir, "demo-models", name),
    });
  } catch (error) {
    if (!(error instanceof ModelFolderError)) throw error;
    throw new ConfigError([error.message]);
  }
}
