import { isBaseUrl, listOf, oneOf, option, orUndefined, seconds, secret, text, whole } from "./option.ts";

/** What can serve a model. */
export const engineDrivers = ["embedded", "vllm-process", "vllm-container", "remote", "scripted"] as const;
export type EngineDriver = (typeof engineDrivers)[number];

/** The settings of the engines. */
export const engineOptions = {
  engine: option(
    "PARLEY_ENGINE",
    "embedded",
    "what generates: embedded (llama.cpp), vllm-process (vLLM as a child process), vllm-container (vLLM in a container), remote (vLLM elsewhere), scripted (a stub that plays a script)",
    oneOf(...engineDrivers),
  ),
  script: option<string | undefined>(
    "PARLEY_SCRIPT",
    undefined,
    "JSON file with the scenarios of the scripted engine",
    orUndefined,
  ),
  model1Gguf: option<string | undefined>(
    "PARLEY_MODEL_1_GGUF",
    undefined,
    "GGUF file that takes the place of the demonstration model-1",
    orUndefined,
  ),
  model1MiniGguf: option<string | undefined>(
    "PARLEY_MODEL_1_MINI_GGUF",
    undefined,
    "GGUF file that takes the place of the demonstration model-1-mini",
    orUndefined,
  ),
  model1Weights: option<string | undefined>(
    "PARLEY_MODEL_1_WEIGHTS",
    undefined,
    "folder of weights for vLLM that takes the place of the demonstration model-1",
    orUndefined,
  ),
  model1MiniWeights: option<string | undefined>(
    "PARLEY_MODEL_1_MINI_WEIGHTS",
    undefined,
    "folder of weights for vLLM that takes the place of the demonstration model-1-mini",
    orUndefined,
  ),
  vllm: option<string | undefined>(
    "PARLEY_VLLM",
    undefined,
    "virtual environment with vLLM, or its program; otherwise the one that `parley vllm install` made, or the one on the path",
    orUndefined,
  ),
  vllmImage: option<string | undefined>(
    "PARLEY_VLLM_IMAGE",
    undefined,
    "container image with vLLM, best by its digest: NAME@sha256:…",
    orUndefined,
  ),
  engineSlots: option(
    "PARLEY_ENGINE_SLOTS",
    64,
    "choices that a model on vLLM, here or elsewhere, may generate at the same time",
    whole(1, 4096),
  ),
  model1Url: option<readonly string[]>(
    "PARLEY_MODEL_1_URL",
    [],
    "where a remote model-1 is served, several addresses separated by commas",
    listOf("http or https addresses, separated by commas", isBaseUrl),
  ),
  model1MiniUrl: option<readonly string[]>(
    "PARLEY_MODEL_1_MINI_URL",
    [],
    "where a remote model-1-mini is served, several addresses separated by commas",
    listOf("http or https addresses, separated by commas", isBaseUrl),
  ),
  upstreamApiKey: secret(
    option<string | undefined>(
      "PARLEY_UPSTREAM_API_KEY",
      undefined,
      "the bearer token for remote engines",
      text("printable characters without blanks", /^[!-~]+$/),
    ),
  ),
  kvMemoryMb: option(
    "PARLEY_KV_MEMORY_MB",
    512,
    "memory for the key-value cache of each model; it decides the slots",
    whole(1, 1_048_576, "MiB"),
  ),
  engineThreads: option<number | "auto">(
    "PARLEY_ENGINE_THREADS",
    "auto",
    "threads of each model; auto is 1 for the demonstration models, else the processors less one",
    (value) => (value === "auto" ? value : whole(1, 256)(value)),
  ),
  engineStallMs: option(
    "PARLEY_ENGINE_STALL_SECONDS",
    30_000,
    "work without a token after which an engine is started anew",
    seconds(3600),
  ),
  engineSilenceMs: option(
    "PARLEY_ENGINE_SILENCE_SECONDS",
    4000,
    "silence after which a ready engine is taken for frozen and started anew",
    seconds(3600),
  ),
} as const;
