import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { databaseFile } from "./database-file.ts";
import { findServer } from "./server-lock.ts";
import { StateError } from "./state-error.ts";
import { schemaVersion, steps } from "./tables.ts";
import { inTransaction } from "./transaction.ts";

/**
 * Migrates the tables to `schemaVersion`. The file of an earlier version is copied first, so an operator can go back:
 * `parley.db.v1` is a copy of a file of version 1.
 * @throws {StateError} when the file is newer, or a server of an earlier version still uses it
 */
export function migrate(database: DatabaseSync, dataDir: string, nowMs: number): void {
  const file = databaseFile(dataDir);
  const found = knownVersion(database, file);
  if (found === schemaVersion) return;
  if (found > 0) {
    assertNoServer(dataDir);
    copyTo(`${file}.v${found}`, database);
  }
  inTransaction(database, () => {
    // Reads the version again: another process may have migrated meanwhile.
    for (const step of steps.slice(versionOf(database))) step(database, nowMs);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
}

/** @returns the version of the tables, 0 if there are none yet @throws {StateError} if a newer Parley wrote them */
export function knownVersion(database: DatabaseSync, file: string): number {
  const found = versionOf(database);
  if (found <= schemaVersion) return found;
  throw new StateError(
    `${file} was written by a newer Parley (schema ${found}, this one knows ${schemaVersion}). Use that version, or another data folder.`,
  );
}

function versionOf(database: DatabaseSync): number {
  // The pragma returns one row with one number.
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  return version;
}

/** Refuses to migrate while a server runs. A server of an earlier version would write rows without the new columns. */
function assertNoServer(dataDir: string): void {
  const server = findServer(dataDir);
  if (!server) return;
  const process = server.pid === undefined ? "" : ` (process ${server.pid})`;
  throw new StateError(
    `A server of an earlier version${process} uses the data folder ${dataDir}. Stop it first: then this version brings the folder up to date.`,
  );
}

/** Copies the database. The copy gets its final name when it is complete, so a file with that name is never partial. */
function copyTo(copy: string, database: DatabaseSync): void {
  const unfinished = `${copy}.part`;
  rmSync(unfinished, { force: true });
  // SQLite writes into an empty file that exists. This one is created so that only its owner can read it.
  writeFileSync(unfinished, "", { mode: 0o600 });
  database.prepare("VACUUM INTO ?").run(unfinished);
  renameSync(unfinished, copy);
}
