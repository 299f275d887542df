import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Client } from "pg";
import { setAside, syncToDisk } from "./backup.ts";
import { copiedTables } from "./copied-tables.ts";
import type { Totals } from "./copied-tables.ts";
import { copyState, findDifference, readTotals } from "./copy-state.ts";
import type { CopyProgress } from "./copy-state.ts";
import { assertDataFolder, isMoved, markMoved, openDatabase } from "./database.ts";
import { databaseFile } from "./database-file.ts";
import { assertNoServer, migrate, noticeDeath, readVersion } from "./postgres/migrate.ts";
import type { Report } from "./postgres/migrate.ts";
import { usePostgres } from "./postgres/open-postgres.ts";
import { PostgresCopy } from "./postgres/postgres-copy.ts";
import { makePrivateFolder } from "./private-file.ts";
import { ServerLock } from "./server-lock.ts";
import { SqliteCopy } from "./sqlite-copy.ts";
import { StateError } from "./state-error.ts";

export interface MoveOptions {
  readonly dataDir: string;
  /** The address of PostgreSQL, with its password. */
  readonly databaseUrl: string;
  readonly progress: CopyProgress;
  readonly report: Report;
  readonly nowMs: number;
}

export interface Moved {
  readonly totals: Totals;
  /** True if an earlier call has copied everything, and ended before it could say so. */
  readonly wasThere: boolean;
}

/**
 * Copies keys, ledger and secret of a data folder to an empty PostgreSQL in one transaction. Then the folder refuses to be
 * used, because two places would grant every budget twice. After a failure, both are as before.
 * @throws {StateError} if a server uses either of them, or the database has other keys or requests
 */
export async function moveToPostgres({ dataDir, databaseUrl, ...options }: MoveOptions): Promise<Moved> {
  const { progress, report, nowMs } = options;
  using folder = openFolder(dataDir);
  using _lock = ServerLock.acquire(dataDir);
  // Commands that change keys wait for the end, and then find the folder marked.
  folder.exec("BEGIN IMMEDIATE");
  const source = new SqliteCopy(folder, dataDir);
  const moved = await usePostgres(databaseUrl, async (client) => {
    await migrate(client, { report });
    return inTransaction(client, "SHARE ROW EXCLUSIVE", async (): Promise<Moved> => {
      const target = new PostgresCopy(client);
      const found = await target.readTotals();
      if (isEmpty(found)) return { totals: await copyState(source, target, progress), wasThere: false };
      return { totals: await assertCopied(source, target, progress), wasThere: true };
    });
  });
  folder.exec("COMMIT");
  markMoved(dataDir, nowMs);
  return moved;
}

/** Checks everything that `moveToPostgres` would refuse, and changes nothing. A server may run. @throws {StateError} */
export async function previewMove({ dataDir, databaseUrl, progress }: MoveOptions): Promise<Totals> {
  using folder = openFolder(dataDir);
  await usePostgres(databaseUrl, async (client) => {
    if ((await readVersion(client)) === 0) return;
    const found = await new PostgresCopy(client).readTotals();
    if (!isEmpty(found)) throw notEmpty(found);
  });
  folder.exec("BEGIN");
  return await readTotals(new SqliteCopy(folder, dataDir), progress);
}

/**
 * Copies keys, ledger and secret from PostgreSQL to a data folder that is new, or was moved to PostgreSQL before. After a
 * failure, the folder is as before. PostgreSQL is not changed.
 * @returns the totals of both, and the folder that received a replaced database
 * @throws {StateError} if a server uses either of them, or the folder has keys and a ledger of its own
 */
export async function moveToFolder({ dataDir, databaseUrl, progress, report, nowMs }: MoveOptions) {
  makePrivateFolder(dataDir);
  if (existsSync(databaseFile(dataDir)) && !isMoved(dataDir))
    throw new StateError(`${dataDir} has keys and a ledger of its own. Name another folder with --data-dir.`);
  using _lock = ServerLock.acquire(dataDir);
  const unfinished = join(dataDir, "parley.db.copying");
  rmSync(unfinished, { recursive: true, force: true });
  try {
    const totals = await usePostgres(databaseUrl, async (client) => {
      await migrate(client, { report });
      return inTransaction(client, "SHARE", () => fillFolder(client, unfinished, progress));
    });
    syncToDisk(databaseFile(unfinished));
    const replaced = setAside(dataDir, nowMs);
    renameSync(databaseFile(unfinished), databaseFile(dataDir));
    syncToDisk(dataDir);
    return { totals, replaced };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function fillFolder(client: Client, dataDir: string, progress: CopyProgress): Promise<Totals> {
  using folder = openDatabase(dataDir);
  folder.exec("BEGIN");
  const totals = await copyState(new PostgresCopy(client), new SqliteCopy(folder, dataDir), progress);
  folder.exec("COMMIT");
  return totals;
}

function openFolder(dataDir: string): DatabaseSync {
  assertDataFolder(dataDir);
  return openDatabase(dataDir);
}

/** Runs a copy while nobody else writes the tables. */
async function inTransaction<T>(client: Client, mode: string, copy: () => Promise<T>): Promise<T> {
  await noticeDeath(client);
  await client.query("BEGIN");
  await client.query(`LOCK TABLE ${copiedTables.map(({ name }) => `parley.${name}`).join(", ")} IN ${mode} MODE`);
  await assertNoServer(client);
  const result = await copy();
  await client.query("COMMIT");
  return result;
}

const isEmpty = (totals: Totals): boolean => [...totals.values()].every((total) => total === "0");

const notEmpty = (found: Totals): StateError =>
  new StateError(
    `The database already has ${found.get("keys")} keys and ${found.get("requests")} requests. Name an empty one in PARLEY_DATABASE_URL, or empty this one: DROP SCHEMA parley CASCADE`,
  );

/** Returns the totals of a target that already has everything of the source. @throws {StateError} if it has something else */
async function assertCopied(source: SqliteCopy, target: PostgresCopy, progress: CopyProgress): Promise<Totals> {
  const found = await target.readTotals();
  if (!Buffer.from(await source.readSecret()).equals(await target.readSecret())) throw notEmpty(found);
  const wanted = await readTotals(source, progress);
  if (findDifference(wanted, found)) throw notEmpty(found);
  return wanted;
}
