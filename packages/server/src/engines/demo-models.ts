import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ModelFolderError, deriveModelFolder } from "@parley/inference";
import { ConfigError } from "../config/config-error.ts";
import type { DemoName } from "../config/model-settings.ts";

const folder = fileURLToPath(new URL("../../../../demo-models", import.meta.url));

/** A model file in the repository with what is recorded of it. */
export interface DemoModel {
  readonly file: string;
  readonly sha256: string;
}

/** @throws {ConfigError} when the record of the files is missing or damaged */
export function findDemoModel(name: DemoName): DemoModel {
  const relative = ggufOf(name);
  return { file: join(folder, relative), sha256: recordedHash(relative) };
}

const ggufOf = (name: DemoName): string => `${name}/${name}.bf16.gguf`;

/** @throws {ConfigError} */
function recordedHash(relative: string): string {
  const record = join(folder, "hashes.json");
  if (!existsSync(record)) throw new ConfigError([`${record} is missing: restore it with "git checkout -- ${record}"`]);
  const hashes = JSON.parse(readFileSync(record, "utf8")) as Record<string, { sha256?: string } | undefined>; // written by the export
  const sha256 = hashes[relative]?.sha256;
  if (sha256 === undefined)
    throw new ConfigError([`${record} does not list ${relative}: restore it from the repository`]);
  return sha256;
}

/**
 * The model in the Hugging Face format, for the engines that read it: the weights are made of the GGUF file at first use and kept in
 * the data folder, with tokenizer and template.
 * @throws {ConfigError} where the record of the files is missing, the weights are damaged or the data folder cannot be written
 */
export function demoFolder(name: DemoName, dataDir: string): string {
  try {
    return deriveModelFolder({
      source: join(folder, name),
      gguf: `${name}.bf16.gguf`,
      sha256: recordedHash(`${name}/model.safetensors`),
      target: join(dataDir, "demo-models", name),
    });
  } catch (error) {
    if (!(error instanceof ModelFolderError)) throw error;
    throw new ConfigError([error.message]);
  }
}
