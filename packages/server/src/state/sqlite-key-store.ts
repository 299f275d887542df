import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KeyChange, KeyRules, KeyStore, StoredKey } from "../accounts/keys/key-store.ts";
import { durably, inTransaction } from "./transaction.ts";

interface KeyRow {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly disabled_ms: number | null;
  readonly models: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  readonly weight: number | null;
  readonly budget_usd: string | null;
  readonly monthly_budget_usd: string | null;
  readonly former_hash: string | null;
  readonly former_until_ms: number | null;
}

const columnOf: Readonly<Record<keyof KeyRules, string>> = {
  name: "name",
  expiresMs: "expires_ms",
  models: "models",
  requestsPerMinute: "requests_per_minute",
  tokensPerMinute: "tokens_per_minute",
  concurrency: "concurrency",
  weight: "weight",
  budgetUsd: "budget_usd",
  monthlyBudgetUsd: "monthly_budget_usd",
};
const rules = Object.keys(columnOf) as readonly (keyof KeyRules)[]; // columnOf has exactly these keys

/** Maximum number of cached keys. It bounds the memory of the cache. */
export const maxCached = 10_000;

/**
 * Keys in SQLite. A change is on the disk before its call returns. A found key is cached until this or another connection
 * writes. Writes of other connections are seen after `maxStaleMs` at the latest.
 */
export class SqliteKeyStore implements KeyStore {
  readonly #database: DatabaseSync;
  readonly #dataVersion: StatementSync;
  readonly #findRow: StatementSync;
  readonly #cache = new Map<string, StoredKey | undefined>();
  readonly #maxStaleMs: number;
  #seenVersion: unknown;
  #lookedMs = Number.NEGATIVE_INFINITY;

  /**
   * @param maxStaleMs minimum milliseconds between two checks for writes of other connections; the check is the slowest
   * part of `find`
   */
  constructor(database: DatabaseSync, maxStaleMs = 0) {
    this.#database = database;
    this.#maxStaleMs = maxStaleMs;
    this.#dataVersion = database.prepare("PRAGMA data_version");
    this.#findRow = database.prepare("SELECT * FROM keys WHERE id = ?");
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs >= this.#maxStaleMs) {
      this.#lookedMs = nowMs;
      // Changes when another connection has written. Changes of this connection clear the cache themselves.
      const version = this.#dataVersion.get()?.["data_version"];
      if (version !== this.#seenVersion) this.#cache.clear();
      this.#seenVersion = version;
    }
    if (this.#cache.size > maxCached) this.#cache.clear();
    if (!this.#cache.has(id)) this.#cache.set(id, this.#read(id));
    return this.#cache.get(id);
  }

  #read(id: string): StoredKey | undefined {
    const row = this.#findRow.get(id) as KeyRow | undefined; // the columns of the table
    return row && toKey(row);
  }

  async list(): Promise<StoredKey[]> {
    const rows = this.#database.prepare("SELECT * FROM keys ORDER BY created_ms, id").all();
    return (rows as unknown as KeyRow[]).map(toKey); // the columns of the table
  }

  async insert(key: StoredKey): Promise<void> {
    const columns = ["id", "hash", "created_ms", "disabled_ms", "former_hash", "former_until_ms"];
    const named = [...columns, ...rules.map((rule) => columnOf[rule])];
    this.#change(
      `INSERT INTO keys (${named.join(", ")}) VALUES (${named.map(() => "?").join(", ")})`,
      ...[key.id, key.hash, key.createdMs, key.disabledMs, key.former?.hash, key.former?.untilMs].map(toColumn),
      ...rules.map((rule) => toColumn(key[rule])),
    );
  }

  async update(id: string, change: KeyChange): Promise<boolean> {
    const changed = rules.filter((rule) => rule in change);
    const assignments = ["id = id", ...changed.map((rule) => `${columnOf[rule]} = ?`)];
    const values = changed.map((rule) => toColumn(change[rule]));
    return this.#change(`UPDATE keys SET ${assignments.join(", ")} WHERE id = ?`, ...values, id);
  }

  async disable(id: string, atMs: number): Promise<boolean> {
    return this.#change("UPDATE keys SET disabled_ms = coalesce(disabled_ms, ?) WHERE id = ?", atMs, id);
  }

  async enable(id: string): Promise<boolean> {
    return this.#change("UPDATE keys SET disabled_ms = NULL WHERE id = ?", id);
  }

  async replaceHash(id: string, hash: string, formerUntilMs?: number): Promise<boolean> {
    const former = formerUntilMs === undefined ? "NULL" : "hash";
    const statement = `UPDATE keys SET former_hash = ${former}, former_until_ms = ?, hash = ? WHERE id = ?`;
    return this.#change(statement, toColumn(formerUntilMs), hash, id);
  }

  async delete(id: string, atMs: number): Promise<boolean> {
    const remove = (): boolean => {
      this.#run("INSERT INTO deleted_keys SELECT id, name, ? FROM keys WHERE id = ?", atMs, id);
      return this.#run("DELETE FROM keys WHERE id = ?", id);
    };
    return durably(this.#database, () => inTransaction(this.#database, remove));
  }

  async names(): Promise<ReadonlyMap<string, string>> {
    const rows = this.#database.prepare("SELECT id, name FROM deleted_keys UNION ALL SELECT id, name FROM keys").all();
    return new Map(rows.map(({ id, name }) => [String(id), String(name)]));
  }

  /** Runs a statement durably. @returns whether a row was written */
  #change(statement: string, ...values: (string | number | null)[]): boolean {
    return durably(this.#database, () => this.#run(statement, ...values));
  }

  #run(statement: string, ...values: (string | number | null)[]): boolean {
    const { changes } = this.#database.prepare(statement).run(...values);
    this.#cache.clear();
    return changes > 0;
  }
}

/** Returns the column value of a rule. Lists are stored as JSON, and absent rules as NULL. */
const toColumn = (value: string | number | readonly string[] | undefined): string | number | null =>
  typeof value === "object" ? JSON.stringify(value) : (value ?? null);

const toKey = (row: KeyRow): StoredKey => ({
  id: row.id,
  hash: row.hash,
  former:
    row.former_hash === null || row.former_until_ms === null
      ? undefined
      : { hash: row.former_hash, untilMs: row.former_until_ms },
  name: row.name,
  createdMs: row.created_ms,
  expiresMs: row.expires_ms ?? undefined,
  disabledMs: row.disabled_ms ?? undefined,
  models: row.models === null ? undefined : (JSON.parse(row.models) as string[]), // written by toColumn()
  requestsPerMinute: row.requests_per_minute ?? undefined,
  tokensPerMinute: row.tokens_per_minute ?? undefined,
  concurrency: row.concurrency ?? undefined,
  weight: row.weight ?? undefined,
  budgetUsd: row.budget_usd ?? undefined,
  monthlyBudgetUsd: row.monthly_budget_usd ?? undefined,
});
