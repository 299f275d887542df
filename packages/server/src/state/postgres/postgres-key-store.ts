import { DatabaseError } from "pg";
import type { Pool } from "pg";
import type { FoundKey, KeyChange, KeyStore, StoredKey } from "../../accounts/keys/key-store.ts";
import { groupsOfKey, joinGroups } from "../group-row.ts";
import { columnOf, keyColumns, noGroup, rules, toColumn, toFoundKey, toKey, valuesOf } from "../key-row.ts";
import type { KeyRow } from "../key-row.ts";
import type { CachedKeys } from "./key-cache.ts";

/** The ids that the next query asks for, and the keys that it will find. */
interface Search {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, FoundKey>>;
}

/** Keys in PostgreSQL. Searches of one turn of the event loop share a query, and what they find is cached. */
export class PostgresKeyStore implements KeyStore {
  readonly #pool: Pick<Pool, "query">;
  readonly #cache: CachedKeys;
  #search: Search | undefined;

  constructor(pool: Pick<Pool, "query">, cache: CachedKeys) {
    this.#pool = pool;
    this.#cache = cache;
  }

  async find(id: string): Promise<FoundKey | undefined> {
    const cached = this.#cache.get(id);
    if (cached) return cached;
    this.#search ??= this.#startSearch();
    this.#search.ids.add(id);
    return (await this.#search.found).get(id);
  }

  #startSearch(): Search {
    const ids = new Set<string>();
    const find = async (): Promise<ReadonlyMap<string, FoundKey>> => {
      this.#search = undefined;
      const keep = this.#cache.beginSearch();
      // With `*`, this prepared statement would fail once a newer version has added a column.
      const text = `SELECT ${keyColumns.map((column) => `keys.${column}`).join(", ")}, ${groupsOfKey}
        FROM parley.keys ${joinGroups("parley.groups")} WHERE keys.id = ANY($1)`;
      const { rows } = await this.#pool.query<KeyRow>({ name: "find-keys", text, values: [[...ids]] });
      const keys = rows.map(toFoundKey);
      keep(keys);
      return new Map(keys.map((key) => [key.id, key]));
    };
    return { ids, found: Promise.resolve().then(find) };
  }

  async list(): Promise<StoredKey[]> {
    const { rows } = await this.#pool.query<KeyRow>("SELECT * FROM parley.keys ORDER BY created_ms, id");
    return rows.map(toKey);
  }

  async insert(key: StoredKey): Promise<void> {
    const places = keyColumns.map((_name, index) => `$${index + 1}`);
    await this.#change(
      key.id,
      `INSERT INTO parley.keys (${keyColumns.join(", ")}) VALUES (${places.join(", ")})`,
      valuesOf(key),
    ).catch(explainGroup(key));
  }

  async update(id: string, change: KeyChange): Promise<boolean> {
    const changed = rules.filter((rule) => rule in change);
    const assignments = ["id = id", ...changed.map((rule, index) => `${columnOf[rule]} = $${index + 2}`)];
    const values = changed.map((rule) => toColumn(change[rule]));
    const statement = `UPDATE parley.keys SET ${assignments.join(", ")} WHERE id = $1`;
    return this.#change(id, statement, [id, ...values]).catch(explainGroup(change));
  }

  async disable(id: string, atMs: number, byGroupId?: string): Promise<boolean> {
    const set = "disabled_ms = coalesce(disabled_ms, $2), disabled_by_group = $3";
    return this.#change(id, `UPDATE parley.keys SET ${set} WHERE id = $1`, [id, atMs, toColumn(byGroupId)]);
  }

  async enable(id: string): Promise<boolean> {
    const set = "disabled_ms = NULL, disabled_by_group = NULL";
    return this.#change(id, `UPDATE parley.keys SET ${set} WHERE id = $1`, [id]);
  }

  async replaceHash(id: string, hash: string, formerUntilMs?: number): Promise<boolean> {
    const former = formerUntilMs === undefined ? "NULL" : "hash";
    const statement = `UPDATE parley.keys SET former_hash = ${former}, former_until_ms = $2, hash = $3 WHERE id = $1`;
    return this.#change(id, statement, [id, toColumn(formerUntilMs), hash]);
  }

  async delete(id: string, atMs: number): Promise<boolean> {
    const statement = `WITH deleted AS (DELETE FROM parley.keys WHERE id = $1 RETURNING id, name)
      INSERT INTO parley.deleted_keys SELECT id, name, $2 FROM deleted`;
    return this.#change(id, statement, [id, atMs]);
  }

  async names(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#pool.query<Pick<KeyRow, "id" | "name">>(
      "SELECT id, name FROM parley.deleted_keys UNION ALL SELECT id, name FROM parley.keys",
    );
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Runs a statement about a key. @returns whether a row was written */
  async #change(id: string, statement: string, values: (string | number | null)[]): Promise<boolean> {
    try {
      const { rowCount } = await this.#pool.query(statement, values);
      return rowCount !== null && rowCount > 0;
    } finally {
      // Also when the answer was lost: the statement may have been carried out.
      this.#cache.forget(id);
    }
  }
}

/** The code of PostgreSQL for a row that refers to another one that does not exist. */
const foreignKeyError = "23503";

/** @throws {GroupError} if the group does not exist */
const explainGroup =
  ({ groupId }: KeyChange) =>
  (error: unknown): never => {
    throw error instanceof DatabaseError && error.code === foreignKeyError ? noGroup(groupId) : error;
  };
