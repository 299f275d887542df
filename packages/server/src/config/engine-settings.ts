import { secret, setting } from "./setting.ts";
import { bearer, oneOf, path, seconds, text, whole } from "./value-kinds.ts";
import { z } from "zod";

/** The drivers that can serve a model. */
export const engineDrivers = ["embedded", "vllm-process", "vllm-container", "remote", "scripted"] as const;
export type EngineDriver = (typeof engineDrivers)[number];

/** Settings of the engines of all models. A model can override them. */
export const engineSettings = {
  engine: setting(
    "PARLEY_ENGINE",
    oneOf(...engineDrivers).prefault("embedded"),
    "engine of the models: embedded (llama.cpp), vllm-process (vLLM as a child process), vllm-container (vLLM in a container), remote (vLLM elsewhere), scripted (a stub that plays a script)",
  ),
  script: setting("PARLEY_SCRIPT", path().optional(), "JSON file with the scenarios of the scripted engine"),
  vllm: setting(
    "PARLEY_VLLM",
    path().optional(),
    "virtual environment with vLLM, or its program; absent: the one that `parley vllm install` created, or the one on the path",
  ),
  vllmImage: setting(
    "PARLEY_VLLM_IMAGE",
    text("the name of an image", /^\S+$/).optional(),
    "container image with vLLM, preferably by digest: NAME@sha256:…",
  ),
  engineSlots: setting(
    "PARLEY_ENGINE_SLOTS",
    whole(1, 65_536).prefault(64),
    "number of choices that a model on vLLM (local or remote) generates at the same time",
  ),
  upstreamApiKey: secret(
    "PARLEY_UPSTREAM_API_KEY",
    bearer().optional(),
    "bearer token for remote models without their own; PARLEY_UPSTREAM_API_KEY_FILE names a file that contains it",
  ),
  kvMemoryMb: setting(
    "PARLEY_KV_MEMORY_MB",
    whole(1, 1_048_576, "MiB").prefault(512),
    "maximum memory for the key-value cache of each model, in MiB; it determines the number of slots",
  ),
  engineThreads: setting(
    "PARLEY_ENGINE_THREADS",
    z.union([whole(1, 256), z.literal("auto")], { error: "a whole number from 1 to 256, or auto" }).prefault("auto"),
    "threads of each model; auto is 1 for the demonstration models, otherwise the number of processors minus one; with auto, long prompts also use idle processors",
  ),
  engineStallMs: setting(
    "PARLEY_ENGINE_STALL_SECONDS",
    seconds(3600).prefault(30),
    "seconds without progress after which a busy engine is restarted",
  ),
  engineSilenceMs: setting(
    "PARLEY_ENGINE_SILENCE_SECONDS",
    seconds(3600).prefault(4),
    "seconds without any response after which a ready engine counts as frozen and is restarted",
  ),
} as const;
