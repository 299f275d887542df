import { readFileSync } from "node:fs";
import { findHeaderFaults, findUrlFaults } from "./check-front.ts";
import { modelShortcuts } from "./default-models.ts";
import type { EngineDriver } from "./engine-settings.ts";
import { explainWrapping } from "./explain-environment.ts";
import type { DemoName, ModelSettings } from "./model-settings.ts";
import type { Reading } from "./reading.ts";
import type { RemoteSettings } from "./remote-settings.ts";
import { bearer } from "./value-kinds.ts";

/** Weights of a demonstration model, or the path of the operator's weights: a file for llama.cpp, a folder for vLLM. */
export type Weights = { readonly demo: DemoName } | { readonly path: string };

/** The configuration of a model's engine, with all that its driver requires. */
export type EngineConfig = EmbeddedConfig | ScriptedConfig | VllmConfig | RemoteConfig;

export interface EmbeddedConfig {
  readonly driver: "embedded";
  readonly weights: Weights;
  /** Memory for the key-value cache, in MiB. */
  readonly kvMemoryMb: number;
  readonly threads: number | "auto";
}

export interface ScriptedConfig {
  readonly driver: "scripted";
  /** Path of a JSON file; undefined: the built-in reply to every request. */
  readonly script: string | undefined;
}

export interface VllmConfig {
  readonly driver: "vllm-process" | "vllm-container";
  readonly weights: Weights;
  /** The container image; empty for a vLLM process. */
  readonly image: string;
  /** Choices at the same time. */
  readonly slots: number;
  readonly given: ModelSettings;
}

export interface RemoteConfig {
  readonly driver: "remote";
  readonly urls: readonly string[];
  /** Folder with the tokenizer and the chat template. */
  readonly tokenizer: string;
  /** The bearer token. */
  readonly apiKey: string | undefined;
  /** Choices at the same time. */
  readonly slots: number;
  readonly given: RemoteSettings;
}

/** One entry of `models`. */
export interface Entry {
  readonly name: string;
  readonly given: ModelSettings;
  /** The demonstration model of a default model. */
  readonly demo: DemoName | undefined;
}

type Reader = (entry: Entry, reading: Reading) => EngineConfig | undefined;

const readers: Readonly<Record<EngineDriver, Reader>> = {
  embedded: readEmbedded,
  scripted: ({ given }, { settings }) => ({ driver: "scripted", script: given.script ?? settings.script }),
  "vllm-process": (entry, reading) => readVllm("vllm-process", entry, reading),
  "vllm-container": (entry, reading) => readVllm("vllm-container", entry, reading),
  remote: readRemote,
};

/** Reads the engine of an entry. @returns undefined if something is missing, which is reported with its path in the file */
export const readEngine: Reader = (entry, reading) =>
  readers[entry.given.engine ?? reading.settings.engine](entry, reading);

function readEmbedded(entry: Entry, reading: Reading): EngineConfig | undefined {
  const { kv_memory_mb: kvMemoryMb, threads } = entry.given;
  const weights = readWeights("embedded", "gguf", entry, reading);
  const { settings } = reading;
  return (
    weights && {
      driver: "embedded",
      weights,
      kvMemoryMb: kvMemoryMb ?? settings.kvMemoryMb,
      threads: threads ?? settings.engineThreads,
    }
  );
}

function readVllm(driver: VllmConfig["driver"], entry: Entry, reading: Reading): EngineConfig | undefined {
  const { given, name } = entry;
  const { vllmImage: image = "", engineSlots } = reading.settings;
  const weights = readWeights(driver, "weights", entry, reading);
  if (driver === "vllm-container" && image === "") {
    reading.faults.push(`models.${name} has the engine "vllm-container": set PARLEY_VLLM_IMAGE to an image with vLLM`);
  }
  return weights && { driver, weights, image, slots: given.slots ?? engineSlots, given };
}

/** Returns the weights of an entry: its path, its `demo`, or the demonstration model of a default entry without weights. */
function readWeights(
  driver: EngineDriver,
  key: "gguf" | "weights",
  { name, given, demo }: Entry,
  { faults }: Reading,
): Weights | undefined {
  const path = given[key];
  if (given.demo !== undefined && path !== undefined) faults.push(`models.${name} must have demo or ${key}, not both`);
  if (path !== undefined) return { path };
  const own = given.demo ?? (given.gguf === undefined && given.weights === undefined ? demo : undefined);
  if (own !== undefined) return { demo: own };
  faults.push(lacks(name, driver, [key]));
  return undefined;
}

function readRemote({ name, given }: Entry, reading: Reading): EngineConfig | undefined {
  const { remote = {}, weights, slots = reading.settings.engineSlots } = given;
  const { urls = [], tokenizer = weights } = remote;
  if (urls.length === 0) reading.faults.push(lacks(name, "remote", ["remote", "urls"]));
  if (tokenizer === undefined) reading.faults.push(lacks(name, "remote", ["remote", "tokenizer"]));
  const place = `models.${name}.remote`;
  reading.faults.push(...findUrlFaults(urls, place), ...findHeaderFaults(remote, place));
  const apiKey = readUpstreamKey(remote, place, reading);
  return tokenizer === undefined ? undefined : { driver: "remote", urls, tokenizer, apiKey, slots, given: remote };
}

function lacks(name: string, driver: EngineDriver, keys: readonly string[]): string {
  const place = ["models", name, ...keys].join(".");
  const variable = modelShortcuts.find(({ path }) => path?.join(".") === place)?.env;
  return `models.${name} has the engine "${driver}": set ${place}${variable === undefined ? "" : ` or ${variable}`}`;
}

/** Returns the bearer token for an upstream: its own, from a variable or a file, otherwise the shared one. */
function readUpstreamKey(remote: RemoteSettings, place: string, reading: Reading): string | undefined {
  const { api_key_env: variable, api_key_file: file } = remote;
  if (variable === undefined && file === undefined) return reading.settings.upstreamApiKey;
  if (variable !== undefined && file !== undefined) {
    reading.faults.push(`${place} must have api_key_env or api_key_file, not both`);
  } else if (reading.env) {
    const token = file === undefined ? reading.env[variable ?? ""] : readToken(file);
    const wrapping = explainWrapping(token ?? "");
    if (wrapping === undefined && bearer().safeParse(token).success) return token;
    const source = file === undefined ? `api_key_env: the variable ${variable}` : `api_key_file: the file ${file}`;
    if (wrapping !== undefined) {
      reading.faults.push(`${place}.${source} ${wrapping}`);
      return undefined;
    }
    reading.faults.push(`${place}.${source} must hold a token, printable characters without blanks`);
  }
  return undefined;
}

/** Reads a token from a file, without the line feed at its end. */
function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined; // reported like a file without a token
  }
}
