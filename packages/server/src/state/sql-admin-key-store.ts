import type { AdminKeyStore, Scope, StoredAdminKey } from "../accounts/admin-keys/admin-key-store.ts";
import type { Row, Sql } from "./sql.ts";

export const adminKeyColumns = [
  "id",
  "hash",
  "name",
  "scopes",
  "group_id",
  "created_ms",
  "expires_ms",
  "disabled_ms",
  "last_used_ms",
  "disabled_by_group",
] as const;

/** Admin keys in SQLite or PostgreSQL. */
export class SqlAdminKeyStore implements AdminKeyStore {
  readonly #sql: Sql;
  readonly #table: string;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#table = sql.table("admin_keys");
  }

  async find(id: string): Promise<StoredAdminKey | undefined> {
    const [row] = await this.#sql.rows(`SELECT * FROM ${this.#table} WHERE id = ?`, [id]);
    return row && toAdminKey(row);
  }

  async list(): Promise<StoredAdminKey[]> {
    return (await this.#sql.rows(`SELECT * FROM ${this.#table} ORDER BY created_ms, id`, [])).map(toAdminKey);
  }

  async insert(key: StoredAdminKey): Promise<void> {
    const { id, hash, name, scopes, groupId, createdMs, expiresMs, disabledMs, lastUsedMs, disabledByGroupId } = key;
    await this.#sql.change(
      `INSERT INTO ${this.#table} (${adminKeyColumns.join(", ")}) VALUES (${adminKeyColumns.map(() => "?").join(", ")})`,
      [
        id,
        hash,
        name,
        JSON.stringify(scopes),
        groupId ?? null,
        createdMs,
        ...[expiresMs, disabledMs, lastUsedMs, disabledByGroupId].map((value) => value ?? null),
      ],
    );
  }

  async disable(id: string, atMs: number, byGroupId?: string): Promise<boolean> {
    const set = "SET disabled_ms = coalesce(disabled_ms, ?), disabled_by_group = ?";
    return this.#change(set, [atMs, byGroupId ?? null], id);
  }

  async enable(id: string): Promise<boolean> {
    return this.#change("SET disabled_ms = NULL, disabled_by_group = NULL", [], id);
  }

  async delete(id: string): Promise<boolean> {
    return (await this.#sql.change(`DELETE FROM ${this.#table} WHERE id = ?`, [id])) > 0;
  }

  async noteUse(id: string, atMs: number): Promise<boolean> {
    return this.#change("SET last_used_ms = ?", [atMs], id);
  }

  async #change(set: string, values: readonly (string | number | null)[], id: string): Promise<boolean> {
    return (await this.#sql.change(`UPDATE ${this.#table} ${set} WHERE id = ?`, [...values, id])) > 0;
  }
}

const toAdminKey = (row: Row): StoredAdminKey => ({
  id: String(row["id"]),
  hash: String(row["hash"]),
  name: String(row["name"]),
  scopes: JSON.parse(String(row["scopes"])) as Scope[], // written by `insert`
  groupId: textOf(row["group_id"]),
  createdMs: Number(row["created_ms"]),
  expiresMs: numberOf(row["expires_ms"]),
  disabledMs: numberOf(row["disabled_ms"]),
  lastUsedMs: numberOf(row["last_used_ms"]),
  disabledByGroupId: textOf(row["disabled_by_group"]),
});

const numberOf = (value: unknown): number | undefined => (value === null ? undefined : Number(value));
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
