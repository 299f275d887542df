import { Big } from "big.js";
import { groupColumns } from "./group-row.ts";
import { keyColumns } from "./key-row.ts";
import { adminKeyColumns } from "./sql-admin-key-store.ts";
import { auditColumns } from "./sql-audit-log.ts";

/** A row as it is copied. Amounts of dollars are decimal strings, and booleans may be 0 and 1. */
export type CopiedRow = Readonly<Record<string, string | number | boolean | Uint8Array | null>>;

/** A table that has the same name and columns in SQLite and in PostgreSQL. */
export interface CopiedTable {
  readonly name:
    | "groups"
    | "deleted_groups"
    | "keys"
    | "deleted_keys"
    | "spending"
    | "monthly_spending"
    | "group_spending"
    | "requests"
    | "admin_keys"
    | "audit"
    | "idempotency";
  readonly columns: readonly string[];
  /** The columns with amounts of dollars. */
  readonly usd: readonly string[];
  /** The columns that are added up, to compare the copy with its source. */
  readonly summed: readonly string[];
  /** The column with bytes, of which the number of bytes is added up. It is null in rows that are not copied. */
  readonly blob?: string;
}

const tokenColumns = ["prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"];

/** The tables that make up the state, besides the secrets. A table is after those to which its rows refer. */
export const copiedTables: readonly CopiedTable[] = [
  { name: "groups", columns: groupColumns, usd: ["budget_usd"], summed: [] },
  { name: "deleted_groups", columns: ["id", "name", "deleted_ms"], usd: [], summed: [] },
  { name: "keys", columns: keyColumns, usd: ["budget_usd", "monthly_budget_usd"], summed: [] },
  { name: "deleted_keys", columns: ["id", "name", "deleted_ms"], usd: [], summed: [] },
  {
    name: "spending",
    columns: ["key_id", "cost_usd", "held_usd"],
    usd: ["cost_usd", "held_usd"],
    summed: ["cost_usd", "held_usd"],
  },
  { name: "monthly_spending", columns: ["key_id", "month", "cost_usd"], usd: ["cost_usd"], summed: ["cost_usd"] },
  {
    name: "group_spending",
    columns: ["group_id", "slot", "cost_usd", "held_usd"],
    usd: ["cost_usd", "held_usd"],
    summed: ["cost_usd", "held_usd"],
  },
  {
    name: "requests",
    columns: [
      "id",
      "key_id",
      "model",
      "is_stream",
      "started_ms",
      "ended_ms",
      "outcome",
      "error_code",
      ...tokenColumns,
      "cost_usd",
      "prices",
      "held_usd",
      "group_id",
      "parent_group_id",
    ],
    usd: ["cost_usd", "held_usd"],
    summed: [...tokenColumns, "cost_usd", "held_usd"],
  },
  { name: "admin_keys", columns: adminKeyColumns, usd: [], summed: [] },
  { name: "audit", columns: auditColumns, usd: [], summed: ["attempts"] },
  // A row without an answer is the claim of a dead server.
  {
    name: "idempotency",
    columns: [
      "key_id",
      "idempotency_key",
      "body_hash",
      "request_id",
      "created_ms",
      "expires_ms",
      "is_stream",
      "ignored",
      "body",
    ],
    usd: [],
    summed: ["created_ms", "expires_ms"],
    blob: "body",
  },
];

/** Returns the maximum number of rows in one step of a copy. All bytes of a step are in memory. */
export const batchRowsOf = ({ blob }: CopiedTable): number => (blob === undefined ? 5000 : 4);

/** Returns the condition of the rows that are copied, in SQL. */
export const conditionOf = ({ blob }: CopiedTable): string => (blob === undefined ? "" : ` WHERE ${blob} IS NOT NULL`);

/** The exact totals of a state: the rows of each table, and the sums of its columns, as decimal strings by their names. */
export type Totals = ReadonlyMap<string, string>;

/** Adds up the rows of a table while they are read. */
export class TableTotals {
  readonly #table: CopiedTable;
  readonly #sums: Map<string, Big>;
  rows = 0;

  constructor(table: CopiedTable) {
    this.#table = table;
    const { summed, blob } = table;
    this.#sums = new Map([...summed, ...(blob === undefined ? [] : [blob])].map((column) => [column, new Big(0)]));
  }

  add(rows: readonly CopiedRow[]): void {
    this.rows += rows.length;
    for (const [column, before] of this.#sums) {
      const amounts = rows.map((row) => amountOf(row[column])).filter((amount) => amount !== "0");
      this.#sums.set(
        column,
        amounts.reduce((sum, amount) => sum.plus(amount), before),
      );
    }
  }

  /** Returns the totals by their names: `requests`, `requests.cost_usd` and so on. */
  toEntries(): (readonly [string, string])[] {
    const { name } = this.#table;
    return [
      [name, String(this.rows)],
      ...[...this.#sums].map(([column, sum]) => [`${name}.${column}`, sum.toFixed()] as const),
    ];
  }
}

const amountOf = (value: CopiedRow[string] | undefined): string =>
  String(value instanceof Uint8Array ? value.byteLength : value);
