import type { DatabaseSync } from "node:sqlite";
import type { ClientBase, Pool } from "pg";
import { whenUnlocked } from "./transaction.ts";

type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

/** Runs the statements that SQLite and PostgreSQL understand alike. Parameters are written `?`. */
export interface Sql {
  /** Returns the name of a table with its schema. */
  readonly table: (name: string) => string;
  rows(statement: string, values: readonly Value[]): Promise<readonly Row[]>;
  /** @returns the number of rows that were written */
  change(statement: string, values: readonly Value[]): Promise<number>;
}

/** In a transaction, every call is finished before it returns, so a chain of calls waits for nothing but itself. */
export const sqliteSql = (database: DatabaseSync): Sql => ({
  table: (name) => name,
  rows: async (statement, values) => database.prepare(statement).all(...values),
  change: (statement, values) =>
    whenUnlocked(database, () => Number(database.prepare(statement).run(...values).changes)),
});

/** @param client a pool, or the connection of a transaction */
export const postgresSql = (client: Pick<Pool | ClientBase, "query">): Sql => ({
  table: (name) => `parley.${name}`,
  rows: async (statement, values) => (await client.query<Row>(numbered(statement), [...values])).rows,
  change: async (statement, values) => (await client.query(numbered(statement), [...values])).rowCount ?? 0,
});

/** Writes the parameters as PostgreSQL numbers them. */
function numbered(statement: string): string {
  let count = 0;
  return statement.replaceAll("?", () => `$${(count += 1)}`);
}
