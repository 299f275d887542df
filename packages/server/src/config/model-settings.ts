import type { EngineDriver } from "./engine-options.ts";

/** What an operator may say of one model in `parley.yaml`, under `models: {model-1: {…}, model-1-mini: {…}}`. */
export interface ModelSettings {
  /** Display label; the name is `<vendor label>: <label>`. */
  readonly label?: string;
  readonly description?: string;
  readonly hugging_face_id?: string;
  /** `YYYY-MM-DD`. */
  readonly deprecation_date?: string;
  /** US dollars: per token, per image, per request; decimal strings. */
  readonly pricing?: Partial<Record<"prompt" | "completion" | "image" | "request", string>>;
  /** A smaller context than the file declares, in tokens. */
  readonly context_length?: number;
  /** Values that apply where a request names none. */
  readonly sampling?: Partial<Record<SamplingName, number>>;
  /** What serves this model, where that differs from the others. */
  readonly engine?: EngineDriver;
  /** Folder of weights. */
  readonly weights?: string;
  /** Choices at the same time. */
  readonly slots?: number;
  /** MiB for the key-value cache. */
  readonly kv_memory_mb?: number;
  /** GPUs by their numbers, separated by commas. */
  readonly gpus?: string;
  readonly gpu_memory_share?: number;
  readonly tensor_parallel?: number;
  /** Processors by their numbers: `0-3`. */
  readonly cores?: string;
  /** More arguments for the engine's program. */
  readonly arguments?: readonly string[];
  readonly remote?: RemoteSettings;
}

/** How a model is reached that others serve. */
export interface RemoteSettings {
  readonly urls?: readonly string[];
  /** The name that it has there; absent: ours. */
  readonly model?: string;
  /** Folder with its tokenizer and chat template; absent: that of the weights. */
  readonly tokenizer?: string;
  /** Absent: `completions`; `chat` where there is only a chat route. */
  readonly protocol?: (typeof remoteProtocols)[number];
  readonly headers?: Readonly<Record<string, string>>;
  /** File with the certificates that are believed. */
  readonly ca_file?: string;
  readonly proxy?: string;
}

export const remoteProtocols = ["completions", "chat"] as const;

export const samplingNames = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
] as const;
type SamplingName = (typeof samplingNames)[number];

export const modelNames = ["model-1", "model-1-mini"] as const;
export type ModelName = (typeof modelNames)[number];
