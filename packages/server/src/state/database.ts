import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databaseFile } from "./database-file.ts";
import { migrate } from "./migrate.ts";
import { assertOwner, denialOf, makePrivateFolder, unusableFolder } from "./private-file.ts";
import { StateError } from "./state-error.ts";

/** Opens the database of keys and ledger, and creates it on first use. @throws {StateError} */
export function openDatabase(dataDir: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makePrivateFolder(dataDir);
    assertOwner(dataDir);
    assertNotMoved(dataDir);
    const file = databaseFile(dataDir);
    database = new DatabaseSync(file, { timeout: 5000 });
    chmodSync(file, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    migrate(database, dataDir, Date.now());
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StateError) throw error;
    throw unusableFolder(dataDir, error);
  }
}

/** Checks that a folder has a database, so a mistyped path is not treated as an empty ledger. @throws {StateError} */
export function assertDataFolder(dataDir: string): void {
  if (existsSync(databaseFile(dataDir))) return;
  // The system does not show the files of a folder that this user may not read.
  const denial = existsSync(dataDir) ? denialOf(dataDir) : undefined;
  if (denial !== undefined) throw unusableFolder(dataDir, denial);
  throw new StateError(
    `${dataDir} is not a data folder: no server has started there, and no key was made. Name the right one with --data-dir or PARLEY_DATA_DIR.`,
  );
}

/** Returns the file that says when keys and ledger of a data folder were moved to PostgreSQL. */
export const movedFile = (dataDir: string): string => join(dataDir, "moved-to-postgres");

export const isMoved = (dataDir: string): boolean => existsSync(movedFile(dataDir));

/** Makes a data folder refuse to be used. */
export const markMoved = (dataDir: string, nowMs: number): void =>
  writeFileSync(movedFile(dataDir), `${new Date(nowMs).toISOString()}\n`, { mode: 0o600 });

/** @throws {StateError} if keys and ledger of a data folder were moved */
export function assertNotMoved(dataDir: string): void {
  if (!isMoved(dataDir)) return;
  const time = readFileSync(movedFile(dataDir), "utf8").trim();
  throw new StateError(
    `The keys and the ledger of ${dataDir} were moved to PostgreSQL (${time}). Set PARLEY_DATABASE_URL. To use the folder as it was then, delete ${movedFile(dataDir)}.`,
  );
}
