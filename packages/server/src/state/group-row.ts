import type { GroupRules, KeyCeiling, StoredGroup } from "../accounts/groups/group-store.ts";
import type { BudgetRaise } from "../accounts/money/budget-raise.ts";
import type { Period } from "../accounts/money/period.ts";

/** A row of the table `groups`, which has the same columns in SQLite and in PostgreSQL. */
export interface GroupRow {
  readonly id: string;
  readonly created_ms: number;
  readonly disabled_ms: number | null;
  readonly name: string;
  readonly parent_id: string | null;
  readonly budget_usd: string | null;
  readonly budget_raise: string | null;
  readonly period: Period | null;
  readonly time_zone: string | null;
  readonly max_keys: number | null;
  readonly key_ceiling: string | null;
}

const columnOf: Readonly<Record<keyof GroupRules, string>> = {
  name: "name",
  parentId: "parent_id",
  budgetUsd: "budget_usd",
  budgetRaise: "budget_raise",
  period: "period",
  timeZone: "time_zone",
  maxKeys: "max_keys",
  keyCeiling: "key_ceiling",
};
const rules = Object.keys(columnOf) as readonly (keyof GroupRules)[]; // columnOf has exactly these keys

/** All columns. */
export const groupColumns: readonly string[] = [
  "id",
  "created_ms",
  "disabled_ms",
  ...rules.map((rule) => columnOf[rule]),
];

/** Returns the values of a row, in the order of `groupColumns`. */
export const groupValues = (group: StoredGroup): (string | number | null)[] => [
  group.id,
  group.createdMs,
  group.disabledMs ?? null,
  ...rules.map((rule) => {
    const value = group[rule];
    return typeof value === "object" ? JSON.stringify(value) : (value ?? null);
  }),
];

export const toGroup = (row: GroupRow): StoredGroup => ({
  id: row.id,
  createdMs: row.created_ms,
  disabledMs: row.disabled_ms ?? undefined,
  name: row.name,
  parentId: row.parent_id ?? undefined,
  budgetUsd: row.budget_usd ?? undefined,
  budgetRaise: row.budget_raise === null ? undefined : (JSON.parse(row.budget_raise) as BudgetRaise), // written by groupValues()
  period: row.period ?? undefined,
  timeZone: row.time_zone ?? undefined,
  maxKeys: row.max_keys ?? undefined,
  keyCeiling: row.key_ceiling === null ? undefined : (JSON.parse(row.key_ceiling) as KeyCeiling), // written by groupValues()
});

/**
 * Returns the groups of rows that have one of these texts as their name or id. Databases change some texts that are not
 * well-formed, so their comparison alone is not exact.
 */
export const toNamed = (rows: readonly GroupRow[], texts: readonly string[]): StoredGroup[] =>
  rows.map(toGroup).filter(({ id, name }) => texts.includes(name) || texts.includes(id));

/** A key's group and that group's parent, as columns next to those of the key. */
export const groupsOfKey = ["own", "parent"]
  .flatMap((table) => groupColumns.map((column) => `${table}.${column} AS ${table}_${column}`))
  .join(", ");

/** Returns the joins that `groupsOfKey` needs. @param groups the table, with its schema */
export const joinGroups = (groups: string): string =>
  `LEFT JOIN ${groups} own ON own.id = keys.group_id LEFT JOIN ${groups} parent ON parent.id = own.parent_id`;

/** Returns a key's group and that group's parent, as far as it has them, from a row with the columns of `groupsOfKey`. */
export const toGroups = (row: Readonly<Record<string, unknown>>): StoredGroup[] =>
  ["own", "parent"]
    .filter((table) => row[`${table}_id`] !== null)
    .map((table) => Object.fromEntries(groupColumns.map((column) => [column, row[`${table}_${column}`]])))
    .map((columns) => toGroup(columns as unknown as GroupRow)); // it has all columns
