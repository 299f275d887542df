import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { StateError } from "../state-error.ts";
import { steps } from "./tables.ts";

/** The current version of the tables. A database with a higher version was written by a newer Parley. */
const schemaVersion = steps.length;

/** Identifies our migrations among the advisory locks of a database. Every version of Parley uses this number. */
export const migrationLock = 7_305_417_288;

/**
 * Migrates the tables to `schemaVersion` in one transaction. Of several processes that migrate at once, one does, and the
 * others wait.
 * @returns the 32 random bytes that were generated with the tables
 * @throws {StateError} if the tables are newer
 */
export async function migrate(client: Client): Promise<Uint8Array> {
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
  const found = await readVersion(client);
  if (found > schemaVersion)
    throw new StateError(
      `The database ${client.database ?? ""} was written by a newer Parley (schema ${found}, this one knows ${schemaVersion}): use that version, or another database.`,
    );
  for (const step of steps.slice(found)) await client.query(step);
  if (found === 0) await client.query("INSERT INTO parley.secrets VALUES ('prompt-cache', $1)", [randomBytes(32)]);
  if (found < schemaVersion) await client.query("UPDATE parley.schema SET version = $1", [schemaVersion]);
  await client.query("COMMIT");
  return readSecret(client);
}

async function readVersion(client: Client): Promise<number> {
  const { rows: tables } = await client.query<{ name: string | null }>("SELECT to_regclass('parley.schema') AS name");
  if (!tables[0]?.name) return 0;
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
