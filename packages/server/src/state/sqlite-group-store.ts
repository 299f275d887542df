import type { DatabaseSync } from "node:sqlite";
import { assertGroupRules, assertUnused } from "../accounts/groups/check-group.ts";
import type { GroupChange, GroupStore, StoredGroup } from "../accounts/groups/group-store.ts";
import { groupColumns, groupValues, toGroup, toNamed } from "./group-row.ts";
import type { GroupRow } from "./group-row.ts";
import { durably, inTransaction, whenUnlocked } from "./transaction.ts";

/** Groups in SQLite. A change is on the disk before its call returns. */
export class SqliteGroupStore implements GroupStore {
  readonly #database: DatabaseSync;
  readonly #onChange: () => void;

  /** @param onChange called after each change: keys that were found before have other groups now */
  constructor(database: DatabaseSync, onChange: () => void) {
    this.#database = database;
    this.#onChange = onChange;
  }

  async find(id: string): Promise<StoredGroup | undefined> {
    return this.#read().find((group) => group.id === id);
  }

  async list(): Promise<StoredGroup[]> {
    return this.#read();
  }

  async findNamed(texts: readonly string[]): Promise<StoredGroup[]> {
    const given = "(SELECT value FROM json_each(?1))";
    const statement = `SELECT * FROM groups WHERE name IN ${given} OR id IN ${given} ORDER BY created_ms, id`;
    const rows = this.#database.prepare(statement).all(JSON.stringify(texts));
    return toNamed(rows as unknown as GroupRow[], texts); // the columns of the table
  }

  #read(): StoredGroup[] {
    const rows = this.#database.prepare("SELECT * FROM groups ORDER BY created_ms, id").all();
    return (rows as unknown as GroupRow[]).map(toGroup); // the columns of the table
  }

  async insert(group: StoredGroup): Promise<void> {
    await this.#change(() => {
      assertGroupRules(group, this.#read());
      const places = groupColumns.map(() => "?");
      return this.#run(
        `INSERT INTO groups (${groupColumns.join(", ")}) VALUES (${places.join(", ")})`,
        ...groupValues(group),
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

  #replace(id: string, edit: (group: StoredGroup, groups: readonly StoredGroup[]) => StoredGroup): Promise<boolean> {
    return this.#change(() => {
      const groups = this.#read();
      const group = groups.find((one) => one.id === id);
      if (!group) return false;
      const assignments = groupColumns.map((column) => `${column} = ?`).join(", ");
      return this.#run(`UPDATE groups SET ${assignments} WHERE id = ?`, ...groupValues(edit(group, groups)), id);
    });
  }

  async delete(id: string, atMs: number): Promise<boolean> {
    return this.#change(() => {
      const groups = this.#read();
      const group = groups.find((one) => one.id === id);
      if (!group) return false;
      const { keys } = this.#database.prepare("SELECT count(*) AS keys FROM keys WHERE group_id = ?").get(id) ?? {};
      assertUnused(group, groups, Number(keys));
      this.#run("INSERT INTO deleted_groups VALUES (?, ?, ?)", id, group.name, atMs);
      return this.#run("DELETE FROM groups WHERE id = ?", id);
    });
  }

  async names(): Promise<ReadonlyMap<string, string>> {
    const statement = "SELECT id, name FROM deleted_groups UNION ALL SELECT id, name FROM groups";
    const rows = this.#database.prepare(statement).all();
    return new Map(rows.map(({ id, name }) => [String(id), String(name)]));
  }

  /** Makes a change durably, in one transaction. */
  #change(change: () => boolean): Promise<boolean> {
    return whenUnlocked(this.#database, () => {
      const isChanged = durably(this.#database, () => inTransaction(this.#database, change));
      this.#onChange();
      return isChanged;
    });
  }

  /** @returns whether a row was written */
  #run(statement: string, ...values: (string | number | null)[]): boolean {
    return this.#database.prepare(statement).run(...values).changes > 0;
  }
}
