import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModelFolderError } from "./model-folder.ts";
import { readGguf } from "./read-gguf.ts";
import type { GgufTensor } from "./read-gguf.ts";

export interface DerivedFolder {
  /** A folder with the tokenizer and the configuration in the Hugging Face format, and the weights as GGUF. */
  readonly source: string;
  /** The file of weights in that folder. */
  readonly gguf: string;
  /** The expected SHA-256 of `model.safetensors`. */
  readonly sha256: string;
  /** The path of the new folder, which transformers and vLLM read. */
  readonly target: string;
}

const weightsName = "model.safetensors";

/** The names of the parts of a Qwen3 layer in GGUF and in transformers. */
const layerParts: Readonly<Record<string, string>> = {
  attn_norm: "input_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_norm: "post_attention_layernorm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
};

/**
 * Creates a folder in the Hugging Face format from one whose weights are stored only as GGUF, and returns its path. Correct
 * files that exist are kept. Several processes may do this at once: each file appears whole or not at all.
 * @throws {ModelFolderError} if the weights are damaged or the folder cannot be written
 */
export function deriveModelFolder({ source, gguf, sha256, target }: DerivedFolder): string {
  try {
    mkdirSync(target, { recursive: true });
    for (const name of readdirSync(source).filter((file) => /\.(json|jinja)$/.test(file))) {
      const content = readFileSync(join(source, name));
      if (!holds(join(target, name), hashOf(content))) replaceFile(join(target, name), content);
    }
    const file = join(target, weightsName);
    if (!holds(file, sha256)) writeWeights(file, join(source, gguf), sha256);
    return target;
  } catch (error) {
    throw asModelFolderError(error, target);
  }
}

function writeWeights(file: string, gguf: string, sha256: string): void {
  const weights = toSafetensors(readGguf(readFileSync(gguf)));
  if (hashOf(weights) !== sha256)
    throw new ModelFolderError(
      `${gguf} is not the file that was released with this version: restore it from the repository.`,
    );
  replaceFile(file, weights);
}

/**
 * Returns the bytes of the safetensors file with these weights, exactly as the safetensors library writes them: sorted by
 * name, all in bfloat16.
 */
function toSafetensors(tensors: readonly GgufTensor[]): Buffer {
  const named = tensors
    .map((tensor) => ({ name: nameInTransformers(tensor.name), shape: tensor.shape, data: inBfloat16(tensor) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  let end = 0;
  for (const { name, shape, data } of named) {
    header[name] = { dtype: "BF16", shape, data_offsets: [end, end + data.length] };
    end += data.length;
  }
  const text = JSON.stringify(header);
  const padded = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...named.map(({ data }) => data)]);
}

function nameInTransformers(name: string): string {
  if (name === "token_embd.weight") return "model.embed_tokens.weight";
  if (name === "output_norm.weight") return "model.norm.weight";
  const [, layer, part = ""] = /^blk\.(\d+)\.(\w+)\.weight$/.exec(name) ?? [];
  const known = layerParts[part];
  if (known === undefined) throw new ModelFolderError(`The tensor ${name} belongs to no Qwen3 model.`);
  return `model.layers.${layer}.${known}.weight`;
}

/**
 * Converts norms back to bfloat16: the upper half of each value. GGUF stores them as float32, because llama.cpp needs that,
 * with the values of the bfloat16 originals.
 */
function inBfloat16({ type, data }: GgufTensor): Buffer {
  if (type === "BF16") return data;
  const halves = Buffer.alloc(data.length / 2);
  for (let at = 0; at < data.length; at += 4) data.copy(halves, at / 2, at + 2, at + 4);
  return halves;
}

const hashOf = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
const holds = (file: string, sha256: string): boolean => existsSync(file) && hashOf(readFileSync(file)) === sha256;

function replaceFile(file: string, content: Buffer): void {
  const partial = `${file}.${process.pid}.partial`;
  try {
    writeFileSync(partial, content, { flush: true });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function asModelFolderError(error: unknown, target: string): unknown {
  if (!(error instanceof Error && "code" in error)) return error;
  const advice =
    error.code === "ENOSPC" || error.code === "EDQUOT"
      ? "The disk is full: make room, or name another data folder."
      : `${error.message}.`;
  return new ModelFolderError(`The weights cannot be prepared in ${target}. ${advice}`, { cause: error });
}
