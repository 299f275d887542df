import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../config/config-error.ts";
import type { DemoName } from "../config/model-settings.ts";

export const demoModelsFolder = fileURLToPath(new URL("../../../../demo-models", import.meta.url));

/** A model file in the repository, with its recorded hash. */
export interface DemoModel {
  readonly file: string;
  readonly sha256: string;
}

/**
 * Returns the GGUF file of a demonstration model.
 * @throws {ConfigError} when `hashes.json` is missing or does not list it
 */
export function findDemoModel(name: DemoName): DemoModel {
  const relative = ggufOf(name);
  return { file: join(demoModelsFolder, relative), sha256: recordedHash(relative) };
}

const ggufOf = (name: DemoName): string => `${name}/${name}.bf16.gguf`;

/** Returns the SHA-256 of a file from `hashes.json`, in hex. @throws {ConfigError} */
export function recordedHash(relative: string): string {
  const record = join(demoModelsFolder, "hashes.json");
  if (!existsSync(record)) throw new ConfigError([`${record} is missing: restore it with "git checkout -- ${record}"`]);
  const hashes = JSON.parse(readFileSync(record, "utf8")) as Record<string, { sha256?: string } | undefined>; // written by the export
  const sha256 = hashes[relative]?.sha256;
  if (sha256 === undefined)
    throw new ConfigError([`${record} does not list ${relative}: restore it from the repository`]);
  return sha256;
}
