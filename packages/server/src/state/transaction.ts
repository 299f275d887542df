import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Runs a change that is on the disk when the call returns. Must be called outside of a transaction. */
export function durably<T>(database: DatabaseSync, change: () => T): T {
  database.exec("PRAGMA synchronous = FULL");
  try {
    return change();
  } finally {
    database.exec("PRAGMA synchronous = NORMAL");
  }
}

/** The prepared statements for transactions of each database. */
const statements = new WeakMap<DatabaseSync, { readonly begin: StatementSync; readonly commit: StatementSync }>();

function statementsOf(database: DatabaseSync): { readonly begin: StatementSync; readonly commit: StatementSync } {
  const known = statements.get(database);
  if (known) return known;
  const prepared = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
  statements.set(database, prepared);
  return prepared;
}

/** Runs a change in a transaction. If it throws, everything is rolled back. */
export function inTransaction<T>(database: DatabaseSync, change: () => T): T {
  const { begin, commit } = statementsOf(database);
  begin.run();
  try {
    const result = change();
    commit.run();
    return result;
  } catch (error) {
    // SQLite may have ended the transaction already, for instance because the disk is full.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
