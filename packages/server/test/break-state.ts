import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import type { TestServer } from "@parley/server/testing";

/** Hides a table from a running server, over another connection. Returns a function that shows it again. */
function hideTable({ dataDir }: Pick<TestServer, "dataDir">, table: string): () => void {
  const run = (statement: string): void => {
    using database = new DatabaseSync(join(dataDir, "parley.db"), { timeout: 5000 });
    database.exec(statement);
  };
  run(`ALTER TABLE ${table} RENAME TO hidden`);
  return () => run(`ALTER TABLE hidden RENAME TO ${table}`);
}

/** Makes every key unreadable, except for the one of the environment. */
export const breakKeys = (server: TestServer): (() => void) => hideTable(server, "keys");

/** Makes the spending of keys with a budget unreadable. */
export const breakSpending = (server: TestServer): (() => void) => hideTable(server, "spending");

/** Makes the entries of requests unreadable, and new ones impossible. */
export const breakLedger = (server: Pick<TestServer, "dataDir">): (() => void) => hideTable(server, "requests");
