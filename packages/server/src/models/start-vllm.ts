import { availableParallelism } from "node:os";
import { join } from "node:path";
import { patientTimings } from "@parley/inference";
import type { Engine } from "@parley/inference";
import { coresFor, startVllmContainer, startVllmProcess } from "@parley/inference/vllm";
import type { VllmProcessOptions } from "@parley/inference/vllm";
import type { VllmConfig } from "../config/read-engine.ts";
import { demoFolder } from "./demo-folder.ts";
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
