import { Big } from "big.js";
import type { Client } from "pg";
import { copiedTables, maxBatchRows } from "../copied-tables.ts";
import type { CopiedRow, CopiedTable, Totals } from "../copied-tables.ts";
import type { CopyTarget } from "../copy-state.ts";

/** The replica of open entries that were copied. It does not exist, so their entries are abandoned at once. */
const noReplica = "00000000-0000-0000-0000-000000000000";

/** The state in PostgreSQL, to be copied or to receive a copy. The caller begins and commits the transaction. */
export class PostgresCopy implements CopyTarget {
  readonly place = "PostgreSQL";
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async countRows({ name }: CopiedTable): Promise<number> {
    const { rows } = await this.#client.query<{ rows: string }>(`SELECT count(*) AS rows FROM parley.${name}`);
    return Number(rows[0]?.rows);
  }

  async *read({ name, columns }: CopiedTable): AsyncGenerator<CopiedRow[]> {
    await this.#client.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${columns.join(", ")} FROM parley.${name}`);
    for (;;) {
      const { rows } = await this.#client.query<CopiedRow>(`FETCH ${maxBatchRows} FROM copied`);
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
    for (const { name, summed } of copiedTables) {
      const sums = summed.map((column) => `, coalesce(sum(${column}), 0) AS ${column}`).join("");
      const { rows } = await this.#client.query<Record<string, string>>(
        `SELECT count(*) AS rows${sums} FROM parley.${name}`,
      );
      const textOf = (column: string): string => new Big(rows[0]?.[column] ?? 0).toFixed();
      all.push([name, textOf("rows")], ...summed.map((column) => [`${name}.${column}`, textOf(column)] as const));
    }
    return new Map(all);
  }

  async insert({ name, columns }: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const replica = name === "requests" ? [", replica_id", `, '${noReplica}'`] : ["", ""];
    const list = columns.join(", ");
    await this.#client.query(
      `INSERT INTO parley.${name} (${list}${replica[0]})
       SELECT ${list}${replica[1]} FROM json_populate_recordset(NULL::parley.${name}, $1)`,
      [JSON.stringify(rows)],
    );
  }

  async writeSecret(secret: Uint8Array): Promise<void> {
    await this.#client.query("UPDATE parley.secrets SET value = $1 WHERE name = 'prompt-cache'", [secret]);
  }
}
