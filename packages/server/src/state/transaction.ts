import type { DatabaseSync, StatementSync } from "node:sqlite";

/** What is changed so is on the disk when the call returns. To be called outside of a transaction. */
export function durably<T>(database: DatabaseSync, change: () => T): T {
  database.exec("PRAGMA synchronous = FULL");
  try {
    return change();
  } finally {
    database.exec("PRAGMA synchronous = NORMAL");
  }
}

/** The statements of a database that transactions need, parsed once. */
const statements = new WeakMap<DatabaseSync, { readonly begin: StatementSync; readonly commit: StatementSync }>();

function statementsOf(database: DatabaseSync): { readonly begin: StatementSync; readonly commit: StatementSync } {
  const known = statements.get(database);
  if (known) return known;
  const prepared = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
  statements.set(database, prepared);
  return prepared;
}

/** All or nothing. */
export function inTransaction<T>(database: DatabaseSync, change: () => T): T {
  const { begin, commit } = statementsOf(database);
  begin.run();
  try {
    const result = change();
    commit.run();
    return result;
  } catch (error) {
    // A full disk may have ended the transaction already.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
