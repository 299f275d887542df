import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The data folder cannot be used; the message says why and what to do. */
export class StateError extends Error {}

/** Raised with every change of the tables; a file with a higher number was written by a newer Parley. */
const schemaVersion = 1;

const tables = `
  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    disabled_ms INTEGER,
    models TEXT,
    requests_per_minute INTEGER,
    tokens_per_minute INTEGER,
    concurrency INTEGER,
    budget_usd TEXT
  ) STRICT;
  CREATE TABLE spending (
    key_id TEXT PRIMARY KEY,
    cost_usd TEXT NOT NULL
  ) STRICT;
  CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL,
    model TEXT NOT NULL,
    is_stream INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    outcome TEXT NOT NULL,
    error_code TEXT,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_usd TEXT NOT NULL,
    prices TEXT NOT NULL
  ) STRICT;
  CREATE INDEX requests_open ON requests (ended_ms) WHERE ended_ms IS NULL;
  CREATE INDEX requests_started ON requests (started_ms);
`;

/** Opens the database of keys and ledger, and makes it on first use. @throws {StateError} */
export function openDatabase(dataDir: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const file = join(dataDir, "parley.db");
    database = new DatabaseSync(file, { timeout: 5000 });
    chmodSync(file, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    migrate(database, file);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StateError) throw error;
    throw new StateError(
      `The data folder ${dataDir} cannot be used (${reasonOf(error)}). Make it writable, or name another one with PARLEY_DATA_DIR.`,
      { cause: error },
    );
  }
}

/** SQLite names the kind of a failure in `message` and its meaning in `errstr`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "errstr" in error ? `${error.message}: ${String(error.errstr)}` : error.message;
}

function migrate(database: DatabaseSync, file: string): void {
  inTransaction(database, () => {
    // The pragma returns one row with one number.
    const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version > schemaVersion) {
      throw new StateError(
        `${file} was written by a newer Parley (schema ${version}, this one knows ${schemaVersion}). Use that version, or another data folder.`,
      );
    }
    if (version === schemaVersion) return;
    database.exec(tables);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
}

/** All or nothing. */
export function inTransaction<T>(database: DatabaseSync, change: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = change();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk may have ended the transaction already.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
