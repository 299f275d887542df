import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { FoundKey, KeyChange, KeyStore, StoredKey } from "../accounts/keys/key-store.ts";
import { groupsOfKey, joinGroups } from "./group-row.ts";
import { columnOf, keyColumns, noGroup, rules, toColumn, toFoundKey, toKey, valuesOf } from "./key-row.ts";
import type { KeyRow } from "./key-row.ts";
import { durably, inTransaction, whenUnlocked } from "./transaction.ts";

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
  readonly #cache = new Map<string, FoundKey | undefined>();
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
    this.#findRow = database.prepare(
      `SELECT keys.*, ${groupsOfKey} FROM keys ${joinGroups("groups")} WHERE keys.id = ?`,
    );
  }

  async find(id: string): Promise<FoundKey | undefined> {
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

  #read(id: string): FoundKey | undefined {
    const row = this.#findRow.get(id) as KeyRow | undefined; // the columns of the table
    return row && toFoundKey(row);
  }

  async list(): Promise<StoredKey[]> {
    const rows = this.#database.prepare("SELECT * FROM keys ORDER BY created_ms, id").all();
    return (rows as unknown as KeyRow[]).map(toKey); // the columns of the table
  }

  async insert(key: StoredKey): Promise<void> {
    const places = keyColumns.map(() => "?");
    const statement = `INSERT INTO keys (${keyColumns.join(", ")}) VALUES (${places.join(", ")})`;
    await inGroup(key, () => this.#change(statement, ...valuesOf(key)));
  }

  async update(id: string, change: KeyChange): Promise<boolean> {
    const changed = rules.filter((rule) => rule in change);
    const assignments = ["id = id", ...changed.map((rule) => `${columnOf[rule]} = ?`)];
    const values = changed.map((rule) => toColumn(change[rule]));
    const statement = `UPDATE keys SET ${assignments.join(", ")} WHERE id = ?`;
    return inGroup(change, () => this.#change(statement, ...values, id));
  }

  async disable(id: string, atMs: number, byGroupId?: string): Promise<boolean> {
    const statement = "UPDATE keys SET disabled_ms = coalesce(disabled_ms, ?), disabled_by_group = ? WHERE id = ?";
    return this.#change(statement, atMs, toColumn(byGroupId), id);
  }

  async enable(id: string): Promise<boolean> {
    return this.#change("UPDATE keys SET disabled_ms = NULL, disabled_by_group = NULL WHERE id = ?", id);
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
    return whenUnlocked(this.#database, () => durably(this.#database, () => inTransaction(this.#database, remove)));
  }

  async names(): Promise<ReadonlyMap<string, string>> {
    const rows = this.#database.prepare("SELECT id, name FROM deleted_keys UNION ALL SELECT id, name FROM keys").all();
    return new Map(rows.map(({ id, name }) => [String(id), String(name)]));
  }

  /** Must be called when another part has changed groups with the same connection. */
  forgetAll(): void {
    this.#cache.clear();
  }

  /** Runs a statement durably. @returns whether a row was written */
  #change(statement: string, ...values: (string | number | null)[]): Promise<boolean> {
    return whenUnlocked(this.#database, () => durably(this.#database, () => this.#run(statement, ...values)));
  }

  #run(statement: string, ...values: (string | number | null)[]): boolean {
    const { changes } = this.#database.prepare(statement).run(...values);
    this.#cache.clear();
    return changes > 0;
  }
}

/** The code of SQLite for a row that refers to another one that does not exist. */
const foreignKeyError = 787;

/** @throws {GroupError} if the group does not exist */
async function inGroup<T>({ groupId }: KeyChange, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    throw error instanceof Error && "errcode" in error && error.errcode === foreignKeyError ? noGroup(groupId) : error;
  }
}
