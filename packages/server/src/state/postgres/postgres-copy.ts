import { Big } from "big.js";
import type { Client } from "pg";
import { batchRowsOf, conditionOf, copiedTables } from "../copied-tables.ts";
import type { CopiedRow, CopiedTable, Totals } from "../copied-tables.ts";
import type { CopyTarget } from "../copy-state.ts";

/** The replica of entries that were copied. It does not exist, so those that are open are abandoned at once. */
const noReplica = "00000000-0000-0000-0000-000000000000";

/** The state in PostgreSQL, to be copied or to receive a copy. The caller begins and commits the transaction. */
export class PostgresCopy implements CopyTarget {
  readonly place = "PostgreSQL";
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async countRows(table: CopiedTable): Promise<number> {
    const { rows } = await this.#client.query<{ rows: string }>(
      `SELECT count(*) AS rows FROM parley.${table.name}${conditionOf(table)}`,
    );
    return Number(rows[0]?.rows);
  }

  async *read(table: CopiedTable): AsyncGenerator<CopiedRow[]> {
    const selected = `SELECT ${table.columns.join(", ")} FROM parley.${table.name}${conditionOf(table)}`;
    await this.#client.query(`DECLARE copied NO SCROLL CURSOR FOR ${selected}`);
    for (;;) {
      const { rows } = await this.#client.query<CopiedRow>(`FETCH ${batchRowsOf(table)} FROM copied`);
      if (rows.length === 0) break;
      yield rows;
    }
    await this.#client.query("CLOSE copied");
  }

  async readSecret(): Promise<Uint8Array> {
    const { rows } = await this.#client.query<{ value: Uint8Array }>(
      "SELECT value FROM parley.secrets WHERE name = 'prompt-cache'",
    );
    return new Uint8Array(rows[0]?.value ?? []);
  }

  async readTotals(): Promise<Totals> {
    const all: (readonly [string, string])[] = [];
    for (const table of copiedTables) {
      const { name, summed, blob } = table;
      const amounts = summed.map((column) => [column, column] as const);
      if (blob !== undefined) amounts.push([blob, `octet_length(${blob})`]);
      const sums = amounts.map(([column, amount]) => `, coalesce(sum(${amount}), 0) AS ${column}`).join("");
      const { rows } = await this.#client.query<Record<string, string>>(
        `SELECT count(*) AS rows${sums} FROM parley.${name}${conditionOf(table)}`,
      );
      const textOf = (column: string): string => new Big(rows[0]?.[column] ?? 0).toFixed();
      all.push([name, textOf("rows")], ...amounts.map(([column]) => [`${name}.${column}`, textOf(column)] as const));
    }
    return new Map(all);
  }

  async insert({ name, columns }: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const replica = name === "requests" || name === "idempotency" ? [", replica_id", `, '${noReplica}'`] : ["", ""];
    const list = columns.join(", ");
    await this.#client.query(
      `INSERT INTO parley.${name} (${list}${replica[0]})
       SELECT ${list}${replica[1]} FROM json_populate_recordset(NULL::parley.${name}, $1)`,
      [JSON.stringify(rows.map(toJson))],
    );
  }

  async writeSecret(secret: Uint8Array): Promise<void> {
    await this.#client.query("UPDATE parley.secrets SET value = $1 WHERE name = 'prompt-cache'", [secret]);
  }
}

/** Returns a row in the form of `json_populate_recordset`: bytes in hex, as PostgreSQL reads them. */
const toJson = (row: CopiedRow): object =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value,
    ]),
  );
