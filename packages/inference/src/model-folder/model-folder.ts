import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { capabilitiesOf } from "../prompt/special-tokens.ts";
import type { Capabilities } from "../prompt/special-tokens.ts";
import type { Vocabulary } from "../prompt/vocabulary.ts";
import { readVocabulary } from "./read-vocabulary.ts";
import type { TokenizerFile } from "./read-vocabulary.ts";

/** The properties of a model, read from its files in the Hugging Face format. The weights themselves are not read. */
export interface ModelFolder {
  readonly path: string;
  /** The parsed `tokenizer.json` and `tokenizer_config.json`. */
  readonly tokenizer: { readonly file: TokenizerFile; readonly config: TokenizerConfig };
  readonly template: string;
  readonly vocabulary: Vocabulary;
  readonly capabilities: Capabilities;
  /** The tokens that end a turn. */
  readonly endOfTurn: readonly number[];
  readonly bosToken: string;
  readonly eosToken: string;
  /** The context length in tokens that the model declares; undefined: it declares none. */
  readonly declaredContext: number | undefined;
  /** `bf16`, `fp8`, `awq`, … */
  readonly quantization: string;
  /** Changes with the files. It is computed from names, sizes and times, because hashing the contents takes long. */
  readonly weightsId: string;
  /** The size of all weight files in bytes; 0 if the folder has only a tokenizer. */
  readonly weightsBytes: number;
}

interface TokenizerConfig {
  readonly chat_template?: string | readonly { readonly name: string; readonly template: string }[];
  readonly bos_token?: TokenName;
  readonly eos_token?: TokenName;
}
type TokenName = string | { readonly content: string } | null;

interface ModelConfig {
  readonly eos_token_id?: number | readonly number[] | null;
  readonly max_position_embeddings?: number;
  readonly dtype?: string;
  readonly torch_dtype?: string;
  readonly quantization_config?: { readonly quant_method?: string };
}

/** The folder lacks a file or a value that an engine needs. The message names it and says what to do. */
export class ModelFolderError extends Error {
  override name = "ModelFolderError";
}

/** @throws {ModelFolderError} */
export function readModelFolder(path: string): ModelFolder {
  // The libraries that write these files define their structure.
  const config = readOptional(path, "config.json") as ModelConfig;
  const file = readJson(path, "tokenizer.json") as TokenizerFile;
  const tokenizerConfig = readJson(path, "tokenizer_config.json") as TokenizerConfig;
  const template = templateOf(path, tokenizerConfig);
  const vocabulary = readVocabulary(file, template);
  const eosToken = nameOf(tokenizerConfig.eos_token);
  return {
    path,
    tokenizer: { file, config: tokenizerConfig },
    template,
    vocabulary,
    capabilities: capabilitiesOf(template, vocabulary.specialTokens),
    endOfTurn: endOfTurn(path, config, vocabulary.specialTokenId(eosToken)),
    bosToken: nameOf(tokenizerConfig.bos_token),
    eosToken,
    declaredContext: config.max_position_embeddings,
    quantization: quantizationOf(config),
    ...weighed(path),
  };
}

function readJson(folder: string, name: string): unknown {
  const path = join(folder, name);
  if (!existsSync(folder)) throw new ModelFolderError(`The folder ${folder} is missing.`);
  if (!existsSync(path))
    throw new ModelFolderError(`${folder} has no ${name}: it is not a model folder in the Hugging Face format.`);
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ModelFolderError(`${path} is damaged (${String(error)}).`, { cause: error });
  }
}

/** The folder of a remote engine's tokenizer has no weight files. */
const readOptional = (folder: string, name: string): unknown =>
  existsSync(join(folder, name)) ? readJson(folder, name) : {};

/** A template file takes precedence over the member of the configuration, as in the library that writes both. */
function templateOf(path: string, { chat_template: member }: TokenizerConfig): string {
  const file = join(path, "chat_template.jinja");
  if (existsSync(file)) return readFileSync(file, "utf8");
  const template = typeof member === "object" ? member.find(({ name }) => name === "default")?.template : member;
  if (template === undefined) throw new ModelFolderError(`${path} has no chat template: it is not a chat model.`);
  return template;
}

const nameOf = (token: TokenName | undefined): string => (typeof token === "object" ? token?.content : token) ?? "";

function endOfTurn(path: string, config: ModelConfig, eosToken: number | undefined): number[] {
  const generation = readOptional(path, "generation_config.json") as ModelConfig; // as above
  const ids = [generation.eos_token_id ?? [], config.eos_token_id ?? [], eosToken ?? []].flat();
  if (ids.length === 0) throw new ModelFolderError(`${path} does not say which token ends a turn (eos_token_id).`);
  return [...new Set(ids)];
}

const shortNames: Readonly<Record<string, string>> = { bfloat16: "bf16", float16: "fp16", float32: "fp32" };

function quantizationOf({ quantization_config, dtype, torch_dtype }: ModelConfig): string {
  const format = quantization_config?.quant_method ?? dtype ?? torch_dtype ?? "unknown";
  return shortNames[format] ?? format;
}

function weighed(path: string): Pick<ModelFolder, "weightsId" | "weightsBytes"> {
  const files = readdirSync(path).filter((name) => /\.(safetensors|bin|json|jinja)$/.test(name));
  const weights = files.filter((name) => name.endsWith(".safetensors") || name.endsWith(".bin"));
  const sizes = files.toSorted().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs}`;
  });
  return {
    weightsId: createHash("sha256").update(sizes.join("\n")).digest("hex"),
    weightsBytes: weights.reduce((sum, name) => sum + statSync(join(path, name)).size, 0),
  };
}
