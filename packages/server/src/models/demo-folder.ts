import { join } from "node:path";
import { ModelFolderError, deriveModelFolder } from "@parley/inference/vllm";
import { ConfigError } from "../config/config-error.ts";
import type { DemoName } from "../config/model-settings.ts";
import { demoModelsFolder, recordedHash } from "./demo-models.ts";

/**
 * Returns the folder of a demonstration model in the Hugging Face format, for engines that need it. At first use, its
 * weights are converted from the GGUF file and stored in the data folder, with tokenizer and template.
 * @throws {ConfigError} if `hashes.json` is missing, the weights are damaged or the data folder cannot be written
 */
export function demoFolder(name: DemoName, dataDir: string): string {
  try {
    return deriveModelFolder({
      source: join(demoModelsFolder, name),
      gguf: `${name}.bf16.gguf`,
      sha256: recordedHash(`${name}/model.safetensors`),
      target: join(dataDir, "demo-models", name),
    });
  } catch (error) {
    if (!(error instanceof ModelFolderError)) throw error;
    throw new ConfigError([error.message]);
  }
}
