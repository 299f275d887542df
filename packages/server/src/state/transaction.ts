import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Runs a change that is on the disk when the call returns, or, in a transaction, when that is committed. */
export function durably<T>(database: DatabaseSync, change: () => T): T {
  if (database.isTransaction) return change();
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

/** Runs a change in a transaction, or as a part of the present one. If it throws, everything is rolled back. */
export function inTransaction<T>(database: DatabaseSync, change: () => T): T {
  if (database.isTransaction) return change();
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

/** The end of the last transaction of `transactor` in this process. */
let lastEnd: Promise<unknown> = Promise.resolve();

/**
 * Returns a function that runs work in one transaction, which is on the disk when the call resolves. The work must wait for
 * nothing but calls of stores on this connection: they are finished when they return, so the work ends before any other
 * part of the process gets its turn. Calls wait for each other, also
 * those of other connections: SQLite would block the thread until they give up.
 * @param onEnd called after each transaction, also if it was rolled back
 */
export function transactor(database: DatabaseSync, onEnd: () => void): <T>(work: () => Promise<T>) => Promise<T> {
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    database.exec("PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
    try {
      const result = await work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    } finally {
      database.exec("PRAGMA synchronous = NORMAL");
      onEnd();
    }
  };
  return (work) => {
    const result = lastEnd.then(() => run(work));
    lastEnd = result.catch(() => undefined);
    return result;
  };
}
