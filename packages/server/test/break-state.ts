import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import type { TestServer } from "@parley/server/testing";

/** Takes a table away under a running server, from another connection. @returns what puts it back */
function hideTable({ dataDir }: TestServer, table: string): () => void {
  const run = (statement: string): void => {
    using database = new DatabaseSync(join(dataDir, "parley.db"), { timeout: 5000 });
    database.exec(statement);
  };
  run(`ALTER TABLE ${table} RENAME TO hidden`);
  return () => run(`ALTER TABLE hidden RENAME TO ${table}`);
}

/** Nobody's key can be judged, but that of the environment. */
export const breakKeys = (server: TestServer): (() => void) => hideTable(server, "keys");

/** What a key with a budget has spent cannot be known. */
export const breakSpending = (server: TestServer): (() => void) => hideTable(server, "spending");
