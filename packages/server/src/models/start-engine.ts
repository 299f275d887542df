import { availableParallelism } from "node:os";
import { readFileSync, statSync } from "node:fs";
import type { Engine } from "@parley/inference";
import type { EmbeddedOptions } from "@parley/inference/embedded";
import { ConfigError } from "../config/config-error.ts";
import type { EmbeddedConfig, RemoteConfig, ScriptedConfig } from "../config/read-engine.ts";
import { findDemoModel } from "./demo-models.ts";
import { commonOptions } from "./engine-options.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { ModelConfig } from "../config/read-models.ts";

/**
 * Starts the engine of a model. Only the module of its driver is loaded.
 * @throws {ConfigError} if a file that it needs is missing or damaged
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { engineConfig } = options.model;
  switch (engineConfig.driver) {
    case "embedded":
      return startEmbedded(options, engineConfig);
    case "scripted":
      return startScripted(options, engineConfig);
    case "vllm-process":
    case "vllm-container":
      return (await import("./start-vllm.ts")).startVllm(options, engineConfig);
    case "remote":
      return startRemote(options, engineConfig);
  }
}

async function startScripted(options: EngineOptions, { script }: ScriptedConfig): Promise<Engine> {
  const { startScriptedEngine } = await import("@parley/inference/scripted");
  const { contextLength } = options.model;
  return startScriptedEngine({
    ...commonOptions(options),
    ...(contextLength !== undefined && { metadata: { contextLength } }),
    scriptFile: assertScript(script),
  });
}

async function startEmbedded(options: EngineOptions, config: EmbeddedConfig): Promise<Engine> {
  const { startEmbeddedEngine } = await import("@parley/inference/embedded");
  const model = embeddedModel(options, config);
  return startEmbeddedEngine({ ...commonOptions(options), model, weightsId: model.sha256 ?? identify(model.file) });
}

/** Returns the options of an embedded model. */
export function embeddedModel(
  options: EngineOptions,
  { weights, kvMemoryMb, threads }: EmbeddedConfig,
): EmbeddedOptions["model"] {
  const { contextLength } = options.model;
  const kvMemoryBytes = kvMemoryMb * 2 ** 20;
  const promptThreads = threads === "auto" ? availableParallelism() : threads;
  if ("path" in weights) {
    // With more threads than free processors, llama.cpp is hundreds of times slower.
    const most = threads === "auto" ? Math.max(1, availableParallelism() - 1) : threads;
    return { file: weights.path, sha256: undefined, contextLength, kvMemoryBytes, threads: most, promptThreads };
  }
  const { file, sha256 } = findDemoModel(weights.demo);
  const processors = demoProcessors(options.model);
  const machine = { kvMemoryBytes, threads: threads === "auto" ? 1 : threads, promptThreads };
  return { file, sha256, contextLength, processors, ...machine };
}

/** Processors that stop repetitions and rambling of the demonstration models, whose correct answers are short. */
const demoProcessors = ({
  trainedPromptTokens = 0,
}: ModelConfig): NonNullable<EmbeddedOptions["model"]["processors"]> => ({
  dry: { multiplier: 3, base: 1.75, allowedTokens: 6, allowedDigits: 20 },
  length: { after: 100, perToken: 0.2 },
  longPrompt: {
    maxPromptTokens: Math.max(longestDemoPrompt, trainedPromptTokens),
    notice:
      `I am a small demonstration model. I was trained on prompts of up to ${trainedPromptTokens} tokens, and this one has ` +
      "{tokens}, so my answer would be noise. Send fewer functions or a shorter conversation.",
  },
});

/** The sequence length of the demonstration models in training, in tokens. Their answers to longer prompts are noise. */
const longestDemoPrompt = 2048;

async function startRemote(
  options: EngineOptions,
  { urls, tokenizer, apiKey, slots, given }: RemoteConfig,
): Promise<Engine> {
  const { startRemoteEngine } = await import("@parley/inference/remote");
  const { id, contextLength } = options.model;
  return startRemoteEngine({
    ...commonOptions(options),
    servedName: given.model ?? id,
    baseUrls: urls,
    tokenizerFolder: tokenizer,
    headers: given.headers ?? {},
    front: given.front,
    sessionHeader: given.session_header,
    sessionMember: given.session_member,
    bearer: apiKey,
    caFile: given.ca_file,
    proxyUrl: given.proxy,
    contextLength,
    slots,
    protocol: given.protocol,
    isSalted: given.cache_salt,
    cacheSecret: options.cacheSecret,
    onAttempt: (attempt) => options.countAttempt(id, attempt),
  });
}

/** Checks that a script can be read. Otherwise its engine would crash again and again. @throws {ConfigError} */
function assertScript(script: string | undefined): string | undefined {
  try {
    if (script !== undefined) JSON.parse(readFileSync(script, "utf8"));
    return script;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`The script ${script} must be a JSON file that can be read (${reason})`]);
  }
}

/** Returns an identity of a large file from its size and time. Hashing the file would take longer than loading it. */
function identify(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return `${file} ${stats?.size} ${stats?.mtimeMs}`;
}
