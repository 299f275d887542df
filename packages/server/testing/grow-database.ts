import { DatabaseSync } from "node:sqlite";
import { databaseFile } from "../src/state/database-file.ts";
import { openState } from "../src/state/open-state.ts";

const rowBytes = 1000;

/** Enlarges the database of a data folder, as years of traffic would. No server may use it meanwhile. */
export function growDatabase(dataDir: string, bytes: number): void {
  openState(dataDir)[Symbol.dispose]();
  using database = new DatabaseSync(databaseFile(dataDir));
  database.exec(
    `INSERT INTO spending (key_id, cost_usd) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.ceil(bytes / rowBytes)}) SELECT 'key-' || i, printf('%.900d', i) FROM n`,
  );
}
