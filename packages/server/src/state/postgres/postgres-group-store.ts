import type { Pool, PoolClient } from "pg";
import { assertGroupRules, assertUnused } from "../../accounts/groups/check-group.ts";
import type { GroupChange, GroupStore, StoredGroup } from "../../accounts/groups/group-store.ts";
import { groupColumns, groupValues, toGroup, toNamed } from "../group-row.ts";
import type { GroupRow } from "../group-row.ts";
import type { CachedKeys } from "./key-cache.ts";
import type { RunTransaction } from "./run-transaction.ts";

type Values = readonly (string | number | null)[];

const inOrder = "ORDER BY created_ms, id";
const readAll = `SELECT ${groupColumns.join(", ")} FROM parley.groups ${inOrder}`;

/** Groups in PostgreSQL. Changes wait for each other, so each is checked against the groups that it will be among. */
export class PostgresGroupStore implements GroupStore {
  readonly #pool: Pick<Pool, "query">;
  readonly #cache: CachedKeys;
  readonly #run: RunTransaction;

  /**
   * @param cache the keys that this server has found, with their groups
   * @param run runs each change in a transaction of its own, or in a present one
   */
  constructor(pool: Pick<Pool, "query">, cache: CachedKeys, run: RunTransaction) {
    this.#pool = pool;
    this.#cache = cache;
    this.#run = run;
  }

  async find(id: string): Promise<StoredGroup | undefined> {
    return (await this.list()).find((group) => group.id === id);
  }

  async list(): Promise<StoredGroup[]> {
    const { rows } = await this.#pool.query<GroupRow>(readAll);
    return rows.map(toGroup);
  }

  async findNamed(texts: readonly string[]): Promise<StoredGroup[]> {
    const statement = `SELECT ${groupColumns.join(", ")} FROM parley.groups WHERE name = ANY($1) OR id = ANY($1) ${inOrder}`;
    // PostgreSQL refuses a text with NUL.
    const { rows } = await this.#pool.query<GroupRow>(statement, [texts.filter((text) => !text.includes("\0"))]);
    return toNamed(rows, texts);
  }

  async insert(group: StoredGroup): Promise<void> {
    await this.#change(async (client, groups) => {
      assertGroupRules(group, groups);
      const places = groupColumns.map((_name, index) => `$${index + 1}`);
      return run(
        client,
        `INSERT INTO parley.groups (${groupColumns.join(", ")}) VALUES (${places.join(", ")})`,
        groupValues(group),
      );
    });
  }

  async update(id: string, change: GroupChange): Promise<boolean> {
    return this.#replace(id, (group, groups) => {
      const changed = { ...group, ...change };
      assertGroupRules(changed, groups);
      return changed;
    });
  }

  async disable(id: string, atMs: number): Promise<boolean> {
    return this.#replace(id, (group) => ({ ...group, disabledMs: group.disabledMs ?? atMs }));
  }

  async enable(id: string): Promise<boolean> {
    return this.#replace(id, (group) => ({ ...group, disabledMs: undefined }));
  }

  async #replace(
    id: string,
    edit: (group: StoredGroup, groups: readonly StoredGroup[]) => StoredGroup,
  ): Promise<boolean> {
    return this.#change(async (client, groups) => {
      const group = groups.find((one) => one.id === id);
      if (!group) return false;
      const assignments = groupColumns.map((column, index) => `${column} = $${index + 2}`).join(", ");
      const values = [id, ...groupValues(edit(group, groups))];
      return run(client, `UPDATE parley.groups SET ${assignments} WHERE id = $1`, values);
    });
  }

  async delete(id: string, atMs: number): Promise<boolean> {
    return this.#change(async (client, groups) => {
      const group = groups.find((one) => one.id === id);
      if (!group) return false;
      // A key that is put into the group from now on waits for the end of this transaction.
      await client.query("SELECT FROM parley.groups WHERE id = $1 FOR UPDATE", [id]);
      const { rows } = await client.query<{ keys: number }>(
        "SELECT count(*)::int AS keys FROM parley.keys WHERE group_id = $1",
        [id],
      );
      assertUnused(group, groups, rows[0]?.keys ?? 0);
      await run(client, "INSERT INTO parley.deleted_groups VALUES ($1, $2, $3)", [id, group.name, atMs]);
      return run(client, "DELETE FROM parley.groups WHERE id = $1", [id]);
    });
  }

  async names(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#pool.query<Pick<GroupRow, "id" | "name">>(
      "SELECT id, name FROM parley.deleted_groups UNION ALL SELECT id, name FROM parley.groups",
    );
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Makes a change in one transaction, during which no other one changes groups. */
  async #change(change: (client: PoolClient, groups: readonly StoredGroup[]) => Promise<boolean>): Promise<boolean> {
    try {
      return await this.#run(async (client) => {
        await client.query("LOCK TABLE parley.groups IN SHARE ROW EXCLUSIVE MODE");
        const { rows } = await client.query<GroupRow>(readAll);
        return change(client, rows.map(toGroup));
      });
    } finally {
      // Also when the answer was lost: the change may have been committed.
      this.#cache.forgetAll();
    }
  }
}

/** @returns whether a row was written */
async function run(client: PoolClient, statement: string, values: Values): Promise<boolean> {
  const { rowCount } = await client.query(statement, [...values]);
  return rowCount !== null && rowCount > 0;
}
