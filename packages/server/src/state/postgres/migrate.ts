import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseError } from "pg";
import type { Client } from "pg";
import { StateError } from "../state-error.ts";
import { typed } from "../typed.ts";
import { changes as allChanges, versionOne } from "./tables.ts";
import type { Change } from "./tables.ts";

/** Identifies our migrations among the advisory locks of a database. Every version of Parley uses this number. */
export const migrationLock = 7_305_417_288;

/** A server whose lease is older than this is dead. See `PostgresUsageLedger`. */
export const defaultLeaseMs = 20_000;

/** Milliseconds between two attempts to lock a table that a statement of someone else is using. */
const retryMs = 1000;
/** Milliseconds before the operator is told that another process holds the lock. */
const tellAfterMs = 1000;

/** Receives sentences about the progress, for the operator. */
export type Report = (line: string) => void;

export interface MigrateOptions {
  /** The changes after version 1. Default: those of this version of Parley. */
  readonly changes?: readonly Change[];
  readonly report: Report;
}

/**
 * Brings the tables to the current version, all changes in one transaction. Of several processes that migrate at once, one
 * does, and the others wait. Servers of an earlier version may run meanwhile.
 * @returns the 32 random bytes that were generated with the tables
 * @throws {StateError} if the tables are newer
 */
export async function migrate(client: Client, { changes = allChanges, report }: MigrateOptions): Promise<Uint8Array> {
  const known = changes.length + 1;
  // Most starts find the current version, and wait for nobody.
  if ((await readVersion(client)) !== known)
    await inTransaction(client, report, async () => {
      const found = await readVersion(client);
      if (found > known) throw newer(client, found, known);
      if (found === 0) await createTables(client);
      for (let version = Math.max(found, 1); version < known; version += 1) {
        const change = changes[version - 1];
        if (found > 0) report(`The tables of the database get ${change?.brings} (version ${version + 1}).`);
        await client.query(change?.forward ?? "");
      }
      await client.query("UPDATE parley.schema SET version = $1", [known]);
    });
  return readSecret(client);
}

/**
 * Brings the tables back to an earlier version. The content that only later versions know is lost.
 * @param to a version, 1 or more
 * @returns the version before
 * @throws {StateError} if a newer Parley has written the tables, they have not had this version, or a server is running
 */
export async function goBack(
  client: Client,
  to: number,
  { changes = allChanges, report }: MigrateOptions,
): Promise<number> {
  let found = 0;
  await inTransaction(client, report, async () => {
    found = await readVersion(client);
    if (found > changes.length + 1) throw newer(client, found, changes.length + 1);
    if (found === 0) throw new StateError(`The database ${client.database ?? ""} has no tables of Parley.`);
    if (to < 1 || to > found)
      throw new StateError(`The tables of the database have version ${found}. Name a version from 1 to ${found}.`);
    await assertNoServer(client);
    for (let version = found; version > to; version -= 1) {
      const change = changes[version - 2];
      report(`The tables of the database lose ${change?.brings} (version ${version}).`);
      await client.query(change?.back ?? "");
    }
    await client.query("UPDATE parley.schema SET version = $1", [to]);
  });
  return found;
}

const newer = (client: Client, found: number, known: number): StateError =>
  new StateError(
    `The database ${client.database ?? ""} was written by a newer Parley (schema ${found}, this one knows ${known}). Start that version, or bring the database back with that version: ${typed(`downgrade --to ${known}`)}`,
  );

/**
 * Makes a change in a transaction under the lock. It never waits long for a table that a statement of someone else is using,
 * such as a dump: all statements of all servers would wait behind it. Instead it gives up everything and tries again.
 */
async function inTransaction(client: Client, report: Report, change: () => Promise<void>): Promise<void> {
  await noticeDeath(client);
  for (let attempt = 1; ; attempt += 1) {
    await client.query("BEGIN");
    try {
      await lock(client, report);
      await client.query("SET LOCAL lock_timeout = '500ms'");
      await change();
      await client.query("COMMIT");
      return;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      if (!isBusy(error)) throw error;
      if (attempt === 1) report("A statement of another program uses the tables of the database. Waiting for its end.");
      await wait(retryMs);
    }
  }
}

/** Asks PostgreSQL to end a statement within a second if this process dies. Some systems cannot notice that. */
export const noticeDeath = (client: Client): Promise<unknown> =>
  client.query("SET client_connection_check_interval = '1s'").catch(() => undefined);

async function lock(client: Client, report: Report): Promise<void> {
  const telling = setTimeout(
    () => report("Another process changes the tables of the database. Waiting for its end."),
    tellAfterMs,
  );
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
  } finally {
    clearTimeout(telling);
  }
}

/** Returns true if a lock was not available, or PostgreSQL has chosen this transaction to end a deadlock. */
const isBusy = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === "55P03" || error.code === "40P01");

async function createTables(client: Client): Promise<void> {
  await client.query(versionOne);
  await client.query("INSERT INTO parley.secrets VALUES ('prompt-cache', $1)", [randomBytes(32)]);
}

/** @throws {StateError} if a server has a valid lease */
export async function assertNoServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM parley.replicas WHERE renewed_at > now() - $1::interval",
    [`${defaultLeaseMs} ms`],
  );
  const count = rows[0]?.count ?? 0;
  if (count === 0) return;
  throw new StateError(
    `Servers use the database (${count}). Stop them first. A server that was killed counts for ${defaultLeaseMs / 1000} s.`,
  );
}

/** @returns the version of the tables, 0 if there are none */
export async function readVersion(client: Client): Promise<number> {
  // `to_regclass` would find the absence in a cache, although another process has created the table while this one waited.
  const { rowCount } = await client.query("SELECT FROM pg_tables WHERE schemaname = 'parley' AND tablename = 'schema'");
  if (rowCount === 0) return 0;
  const { rows } = await client.query<{ version: number }>("SELECT version FROM parley.schema");
  return rows[0]?.version ?? 0;
}

async function readSecret(client: Client): Promise<Uint8Array> {
  const { rows } = await client.query<{ value: Uint8Array }>(
    "SELECT value FROM parley.secrets WHERE name = 'prompt-cache'",
  );
  if (rows[0]) return new Uint8Array(rows[0].value);
  throw new StateError("The database lacks the secret prompt-cache: restore a backup.");
}
