import type { DatabaseSync } from "node:sqlite";

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
