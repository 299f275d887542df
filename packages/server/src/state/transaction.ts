import type { DatabaseSync } from "node:sqlite";

/** What is changed so is on the disk when the call returns. To be called outside of a transaction. */
export function durably<T>(database: DatabaseSync, change: () => T): T {
  database.exec("PRAGMA synchronous = FULL");
  try {
    return change();
  } finally {
    database.exec("PRAGMA synchronous = NORMAL");
  }
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
