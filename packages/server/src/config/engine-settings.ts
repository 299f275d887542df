import { secret, setting } from "./setting.ts";
import { bearer, oneOf, path, seconds, text, whole } from "./value-kinds.ts";
import { z } from "zod";

/** What can serve a model. */
export const engineDrivers = ["embedded", "vllm-process", "vllm-container", "remote", "scripted"] as const;
export type EngineDriver = (typeof engineDrivers)[number];

/** What holds for the engines of all models, unless a model says otherwise. */
export const engineSettings = {
  engine: setting(
    "PARLEY_ENGINE",
    oneOf(...engineDrivers).prefault("embedded"),
    "what generates: embedded (llama.cpp), vllm-process (vLLM as a child process), vllm-container (vLLM in a container), remote (vLLM elsewhere), scripted (a stub that plays a script)",
  ),
  script: setting("PARLEY_SCRIPT", path().optional(), "JSON file with the scenarios of the scripted engine"),
  vllm: setting(
    "PARLEY_VLLM",
    path().optional(),
    "virtual environment with vLLM, or its program; otherwise the one that `parley vllm install` made, or the one on the path",
  ),
  vllmImage: setting(
    "PARLEY_VLLM_IMAGE",
    text("the name of an image", /^\S+$/).optional(),
    "container image with vLLM, best by its digest: NAME@sha256:…",
  ),
  engineSlots: setting(
    "PARLEY_ENGINE_SLOTS",
    whole(1, 65_536).prefault(64),
    "choices that a model on vLLM, here or elsewhere, may generate at the same time",
  ),
  upstreamApiKey: secret(
    "PARLEY_UPSTREAM_API_KEY",
    bearer().optional(),
    "the bearer token for remote models that have none of their own; PARLEY_UPSTREAM_API_KEY_FILE names a file with it",
  ),
  kvMemoryMb: setting(
    "PARLEY_KV_MEMORY_MB",
    whole(1, 1_048_576, "MiB").prefault(512),
    "most memory for the key-value cache of each model, in MiB; it decides the slots",
  ),
  engineThreads: setting(
    "PARLEY_ENGINE_THREADS",
    z.union([whole(1, 256), z.literal("auto")], { error: "a whole number from 1 to 256, or auto" }).prefault("auto"),
    "threads of each model; auto is 1 for the demonstration models, else the processors less one; long prompts then use idle ones, too",
  ),
  engineStallMs: setting(
    "PARLEY_ENGINE_STALL_SECONDS",
    seconds(3600).prefault(30),
    "work without a token after which an engine is restarted",
  ),
  engineSilenceMs: setting(
    "PARLEY_ENGINE_SILENCE_SECONDS",
    seconds(3600).prefault(4),
    "silence after which a ready engine is taken for frozen and restarted",
  ),
} as const;
