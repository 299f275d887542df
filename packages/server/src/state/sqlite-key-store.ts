import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KeyStore, StoredKey } from "../auth/key-store.ts";

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
  readonly budget_usd: string | null;
}

/** Bounds the memory of the cache, whose entries are small. */
const maxCached = 10_000;

/** Keys in SQLite. A key that was found is cached until this or another connection writes. */
export class SqliteKeyStore implements KeyStore {
  readonly #database: DatabaseSync;
  readonly #dataVersion: StatementSync;
  readonly #findRow: StatementSync;
  readonly #cache = new Map<string, StoredKey | undefined>();
  #seenVersion: unknown;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#dataVersion = database.prepare("PRAGMA data_version");
    this.#findRow = database.prepare("SELECT * FROM keys WHERE id = ?");
  }

  async find(id: string): Promise<StoredKey | undefined> {
    // Moves when another connection has written; our own changes clear the cache themselves.
    const version = this.#dataVersion.get()?.["data_version"];
    if (version !== this.#seenVersion || this.#cache.size > maxCached) this.#cache.clear();
    this.#seenVersion = version;
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
    this.#change(
      `INSERT INTO keys (id, hash, name, created_ms, expires_ms, disabled_ms, models, requests_per_minute, tokens_per_minute, concurrency, budget_usd)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key.id,
      key.hash,
      key.name,
      key.createdMs,
      key.expiresMs ?? null,
      key.disabledMs ?? null,
      key.models ? JSON.stringify(key.models) : null,
      key.requestsPerMinute ?? null,
      key.tokensPerMinute ?? null,
      key.concurrency ?? null,
      key.budgetUsd ?? null,
    );
  }

  async disable(id: string, atMs: number): Promise<boolean> {
    return this.#change("UPDATE keys SET disabled_ms = coalesce(disabled_ms, ?) WHERE id = ?", atMs, id);
  }

  async replaceHash(id: string, hash: string): Promise<boolean> {
    return this.#change("UPDATE keys SET hash = ? WHERE id = ?", hash, id);
  }

  /** @returns whether a row was written */
  #change(statement: string, ...values: (string | number | null)[]): boolean {
    const { changes } = this.#database.prepare(statement).run(...values);
    this.#cache.clear();
    return changes > 0;
  }
}

const toKey = (row: KeyRow): StoredKey => ({
  id: row.id,
  hash: row.hash,
  name: row.name,
  createdMs: row.created_ms,
  expiresMs: row.expires_ms ?? undefined,
  disabledMs: row.disabled_ms ?? undefined,
  models: row.models === null ? undefined : (JSON.parse(row.models) as string[]), // written by insert()
  requestsPerMinute: row.requests_per_minute ?? undefined,
  tokensPerMinute: row.tokens_per_minute ?? undefined,
  concurrency: row.concurrency ?? undefined,
  budgetUsd: row.budget_usd ?? undefined,
});
