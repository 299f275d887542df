import type { DatabaseSync } from "node:sqlite";
import { Big } from "big.js";
import { batchRowsOf, conditionOf, copiedTables, TableTotals } from "./copied-tables.ts";
import type { CopiedRow, CopiedTable, Totals } from "./copied-tables.ts";
import type { CopyTarget } from "./copy-state.ts";
import { readSecret } from "./tables.ts";

/** The state of a data folder, to be copied or to receive a copy. The caller begins and commits the transaction. */
export class SqliteCopy implements CopyTarget {
  readonly place: string;
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync, place: string) {
    this.#database = database;
    this.place = place;
  }

  async countRows(table: CopiedTable): Promise<number> {
    const counted = `SELECT count(*) AS rows FROM ${table.name}${conditionOf(table)}`;
    return Number(this.#database.prepare(counted).get()?.["rows"]);
  }

  async *read(table: CopiedTable): AsyncGenerator<CopiedRow[]> {
    const selected = `SELECT ${table.columns.join(", ")} FROM ${table.name}${conditionOf(table)}`;
    const rows = this.#database.prepare(selected).iterate();
    let batch: CopiedRow[] = [];
    for (const row of rows) {
      batch.push(row as CopiedRow); // the types that SQLite has, without bigint
      if (batch.length < batchRowsOf(table)) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  async readSecret(): Promise<Uint8Array> {
    return readSecret(this.#database, "prompt-cache");
  }

  async readTotals(): Promise<Totals> {
    const all: (readonly [string, string])[] = [];
    for (const table of copiedTables) {
      const totals = new TableTotals(table);
      for await (const rows of this.read(table)) totals.add(rows);
      all.push(...totals.toEntries());
    }
    return new Map(all);
  }

  /** The columns of SQLite take numbers of dollars as strings without trailing zeros, and booleans as 0 and 1. */
  async insert({ name, columns, usd }: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const places = columns.map(() => "?").join(", ");
    const insert = this.#database.prepare(`INSERT INTO ${name} (${columns.join(", ")}) VALUES (${places})`);
    for (const row of rows)
      insert.run(
        ...columns.map((column) => {
          const value = row[column] ?? null;
          if (typeof value === "boolean") return Number(value);
          return value !== null && usd.includes(column) ? new Big(String(value)).toFixed() : value;
        }),
      );
  }

  async writeSecret(secret: Uint8Array): Promise<void> {
    this.#database.prepare("UPDATE secrets SET value = ? WHERE name = 'prompt-cache'").run(secret);
  }
}
