import { accessSync, constants, existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { databaseFile } from "./database-file.ts";
import { knownVersion } from "./migrate.ts";
import { assertOwner, isFull, nearestExisting, unusableFolder } from "./private-file.ts";
import { StateError } from "./state-error.ts";
import { schemaVersion } from "./tables.ts";

/**
 * Checks a data folder without changing it.
 * @returns a description for the operator
 * @throws {StateError} when a server could not use it
 */
export function describeDataFolder(dataDir: string): string {
  const file = databaseFile(dataDir);
  assertUsable(existsSync(file) ? file : nearestExisting(dataDir), dataDir);
  if (!existsSync(file)) return `${dataDir} is made at the first start`;
  const version = readVersion(file);
  const isOld = version < schemaVersion;
  return `${dataDir}, version ${version}${isOld ? `, which the next start brings to ${schemaVersion}` : ""}`;
}

function readVersion(file: string): number {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    return knownVersion(database, file);
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw new StateError(
      `${file} is not a database of Parley (${String(error)}). Restore it, or name another folder.`,
      {
        cause: error,
      },
    );
  }
}

function assertUsable(path: string, dataDir: string): void {
  assertOwner(dataDir);
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    if (isFull(path)) throw new Error("the disk is full");
    if (!path.endsWith(".db") && !statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
  } catch (error) {
    throw unusableFolder(dataDir, error);
  }
}
