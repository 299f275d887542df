import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { databaseFile } from "./database-file.ts";
import { findServer } from "./server-lock.ts";
import { StateError } from "./state-error.ts";
import { schemaVersion, steps } from "./tables.ts";
import { inTransaction } from "./transaction.ts";

/**
 * Brings the tables up to the version that this Parley knows. What an earlier version has written is copied first, so
 * that there is a way back: `parley.db.v1` is the file as version 1 left it.
 * @throws {StateError} when the file is newer, or a server of an earlier version still writes it
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
    // Another process may have been faster.
    for (const step of steps.slice(versionOf(database))) step(database, nowMs);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
}

/** @returns the version of the tables, 0 where there are none yet. @throws {StateError} for that of a newer Parley */
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

/** An earlier server would go on writing, and would leave out what its tables did not have. */
function assertNoServer(dataDir: string): void {
  const server = findServer(dataDir);
  if (!server) return;
  const process = server.pid === undefined ? "" : ` (process ${server.pid})`;
  throw new StateError(
    `A server of an earlier version${process} uses the data folder ${dataDir}. Stop it first: then this version brings the folder up to date.`,
  );
}

/** Complete, or not there: a copy under its final name can be trusted. */
function copyTo(copy: string, database: DatabaseSync): void {
  const unfinished = `${copy}.part`;
  rmSync(unfinished, { force: true });
  // SQLite fills an empty file, and this one is nobody else's to read.
  writeFileSync(unfinished, "", { mode: 0o600 });
  database.prepare("VACUUM INTO ?").run(unfinished);
  renameSync(unfinished, copy);
}
