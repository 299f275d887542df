import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { assertOwner, unusableFolder, whyUnusable } from "./private-file.ts";
import { StateError } from "./state-error.ts";
import { typed } from "./typed.ts";

/**
 * The lock of a server on its data folder: an exclusive transaction on a separate database file. The operating system
 * releases it when the process ends for any reason. So open entries in the ledger belong to a dead server if nobody holds
 * the lock.
 */
export class ServerLock implements Disposable {
  readonly #database: DatabaseSync;
  readonly #pidFile: string;

  private constructor(database: DatabaseSync, pidFile: string) {
    this.#database = database;
    this.#pidFile = pidFile;
  }

  /** @throws {StateError} when another server holds the lock, or the folder cannot be used */
  static acquire(dataDir: string): ServerLock {
    assertOwner(dataDir);
    const database = tryLock(dataDir, probeMs);
    if (!database) {
      const pid = readPid(dataDir);
      throw new StateError(
        `Another Parley server${pid === undefined ? "" : ` (process ${pid})`} uses the data folder ${dataDir}. Stop it with "${typed("stop")}", or name another folder with PARLEY_DATA_DIR.`,
      );
    }
    const pidFile = join(dataDir, "server.pid");
    try {
      writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
      return new ServerLock(database, pidFile);
    } catch (error) {
      database.close();
      throw unusableFolder(dataDir, error);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#pidFile, { force: true });
    this.#database.close();
  }
}

/** Returns the running server of a data folder, with its process id if that is known; undefined if none runs. */
export function findServer(dataDir: string): { readonly pid: number | undefined } | undefined {
  if (!existsSync(lockFile(dataDir))) return undefined;
  const database = tryLock(dataDir, 0);
  database?.close();
  return database ? undefined : { pid: readPid(dataDir) };
}

/** Milliseconds to wait for the lock: `findServer` in another process may hold it for a moment. */
const probeMs = 500;

const lockFile = (dataDir: string): string => join(dataDir, "server.lock");

/** @returns the lock; undefined if another process holds it @throws {StateError} when the folder cannot be used */
function tryLock(dataDir: string, waitMs: number): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lockFile(dataDir), { timeout: waitMs });
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && "errcode" in error && error.errcode === busy) return undefined;
    throw unusableFolder(dataDir, error);
  }
}

/** SQLite's code for a lock that another connection holds. */
const busy = 5;

/**
 * Reads the process id of the server. Never returns 0 or less, because a signal to such a number would reach a group of
 * processes.
 */
function readPid(dataDir: string): number | undefined {
  const file = join(dataDir, "server.pid");
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * A temporary folder for sockets, whose paths must be short. The data folder contains its path, so the next server can
 * remove the run folder of a dead one.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  readonly #note: string;

  private constructor(path: string, note: string) {
    this.path = path;
    this.#note = note;
  }

  /** Creates the folder. Only the server that holds the lock of the data folder may call it. */
  static make(dataDir: string): RunFolder {
    const note = join(dataDir, "run-folder");
    removeLeft(note);
    const path = makeTemporary();
    writeFileSync(note, `${path}\n`, { mode: 0o600 });
    return new RunFolder(path, note);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
    rmSync(this.#note, { force: true });
  }
}

/** @throws {StateError} */
function makeTemporary(): string {
  try {
    return mkdtempSync(join(tmpdir(), "parley-"));
  } catch (error) {
    throw new StateError(
      `The folder for temporary files ${tmpdir()} cannot be used: ${whyUnusable(tmpdir(), error)} The sockets of engines are made there. Mount a tmpfs there, or name another folder with TMPDIR.`,
      { cause: error },
    );
  }
}

/** Removes the folder that the note names, if it has the name of a run folder and belongs to the user of this process. */
function removeLeft(note: string): void {
  const path = existsSync(note) ? readFileSync(note, "utf8").trim() : "";
  const left = lstatSync(path, { throwIfNoEntry: false });
  const isOurs = left?.isDirectory() && left.uid === process.getuid?.();
  if (isOurs && /^parley-\w{6}$/.test(basename(path))) rmSync(path, { recursive: true, force: true });
}
