import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const demo = fileURLToPath(new URL("../../demo-models/model-1", import.meta.url));

const sizes = {
  /** About 160 million parameters: a step takes a processor as long as a step of a large model takes a GPU. */
  cpu: {
    hidden_size: 1024,
    intermediate_size: 3072,
    num_hidden_layers: 12,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    head_dim: 64,
  },
  /** The layers of Qwen3-14B: 26 GB in bf16, and 160 KiB of cache per token. */
  gpu: {
    hidden_size: 5120,
    intermediate_size: 17_408,
    num_hidden_layers: 40,
    num_attention_heads: 40,
    num_key_value_heads: 8,
    head_dim: 128,
  },
} as const;

/**
 * Writes the configuration of a model that is large for this hardware. vLLM makes up its weights (`--load-format dummy`). It has
 * the tokenizer and the template of a demonstration model, because those models are too small to keep an engine busy.
 * @returns the folder
 */
export function writeHeavyModel(folder: string, hardware: keyof typeof sizes): string {
  const size = sizes[hardware];
  mkdirSync(folder, { recursive: true });
  cpSync(demo, folder, { recursive: true });
  for (const name of readdirSync(folder)) if (/\.(safetensors|gguf)$/.test(name)) rmSync(join(folder, name));
  const file = join(folder, "config.json");
  const { layer_types, max_window_layers, ...config } = JSON.parse(readFileSync(file, "utf8")) as Record<
    string,
    unknown
  >;
  const layers = Array.isArray(layer_types) && {
    layer_types: Array.from({ length: size.num_hidden_layers }, () => "full_attention"),
  };
  const window = max_window_layers !== undefined && { max_window_layers: size.num_hidden_layers };
  writeFileSync(file, JSON.stringify({ ...config, ...size, ...layers, ...window }));
  return folder;
}
