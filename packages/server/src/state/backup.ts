import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { backup, DatabaseSync } from "node:sqlite";
import { databaseFile } from "./database-file.ts";
import { assertDataFolder, movedFile, openDatabase } from "./database.ts";
import { knownVersion } from "./migrate.ts";
import { createPrivateFile, denialOf, makePrivateFolder, ownName } from "./private-file.ts";
import { ServerLock } from "./server-lock.ts";
import { StateError } from "./state-error.ts";

/**
 * Copies the whole database in one step. A copy in several steps starts again whenever another connection writes between
 * two of them.
 */
const allPages = 2 ** 31 - 1;

/**
 * Copies keys and ledger to a new file that only its owner may read. A server may run meanwhile. An existing file is never
 * overwritten, and a failed copy is removed.
 * @returns the number of copied database pages
 * @throws {StateError} {Error} with a message for the operator
 */
export async function backUp(dataDir: string, file: string): Promise<number> {
  assertDataFolder(dataDir);
  using database = openDatabase(dataDir);
  closeSync(createPrivateFile(file));
  try {
    return await backup(database, file, { rate: allPages });
  } catch (error) {
    rmSync(file);
    throw error;
  }
}

export interface Restored {
  readonly keys: number;
  readonly entries: number;
  /** The folder that received the replaced database; undefined if there was none. */
  readonly replaced: string | undefined;
}

/**
 * Replaces keys and ledger by a backup, and keeps the replaced database in a subfolder. The backup is checked and copied
 * first, so a failure leaves the data folder as it was.
 * @throws {StateError} when a server runs, or the file is not an undamaged backup of this Parley or an older one
 */
export async function restore(dataDir: string, file: string, nowMs: number): Promise<Restored> {
  makePrivateFolder(dataDir);
  using _lock = ServerLock.acquire(dataDir);
  using source = openBackup(file);
  const counts = { keys: count(source, "keys"), entries: count(source, "requests") };
  const copy = join(dataDir, "parley.db.restoring");
  rmSync(copy, { force: true });
  try {
    closeSync(createPrivateFile(copy));
    await backup(source, copy);
    syncToDisk(copy);
    const replaced = setAside(dataDir, nowMs);
    renameSync(copy, databaseFile(dataDir));
    syncToDisk(dataDir);
    return { ...counts, replaced };
  } finally {
    rmSync(copy, { force: true });
  }
}

function openBackup(file: string): DatabaseSync {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new StateError(`There is no file ${file}. Name one that "parley backup" has written.`);
  if (denialOf(file, constants.R_OK) !== undefined)
    throw new StateError(`${file} cannot be read by ${ownName()}. Give that user the right to read it.`);
  const database = new DatabaseSync(addressOf(file), { readOnly: true });
  try {
    assertSound(database, file);
    return database;
  } catch (error) {
    database.close();
    if (error instanceof StateError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StateError(`${file} is not a backup of Parley (${reason}).`, { cause: error });
  }
}

/**
 * Returns the address with which SQLite opens a file that nobody writes. It then makes no files beside it, for which it would
 * need the right to write there. A file that has a log beside it is opened with this log.
 */
function addressOf(file: string): string | URL {
  if (existsSync(`${file}-wal`)) return file;
  const address = pathToFileURL(resolve(file));
  address.searchParams.set("immutable", "1");
  return address;
}

function assertSound(database: DatabaseSync, file: string): void {
  const check = database.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"];
  if (check !== "ok") throw new StateError(`${file} is damaged (${String(check)}). Use another backup.`);
  if (knownVersion(database, file) === 0) throw new StateError(`${file} is not a backup of Parley.`);
}

function count(database: DatabaseSync, table: "keys" | "requests"): number {
  return Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"]);
}

/**
 * Moves the write-ahead log away, because SQLite would apply it to the new file. The old database gets a second name, and
 * stays in place until the new one replaces it.
 * @returns the folder with the old files
 */
export function setAside(dataDir: string, nowMs: number): string | undefined {
  const old = databaseFile(dataDir);
  if (!existsSync(old)) return undefined;
  const folder = join(dataDir, `replaced-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`);
  mkdirSync(folder, { mode: 0o700 });
  linkSync(old, join(folder, basename(old)));
  for (const file of [`${old}-wal`, `${old}-shm`, movedFile(dataDir)])
    if (existsSync(file)) renameSync(file, join(folder, basename(file)));
  return folder;
}

/** Writes a file or folder through to the disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
