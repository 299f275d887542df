import { GroupError } from "../accounts/groups/group-store.ts";
import type { FoundKey, KeyRules, StoredKey } from "../accounts/keys/key-store.ts";
import type { BudgetRaise } from "../accounts/money/budget-raise.ts";
import { toGroups } from "./group-row.ts";

/** A row of the table `keys`, which has the same columns in SQLite and in PostgreSQL. */
export interface KeyRow {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly disabled_ms: number | null;
  readonly disabled_by_group: string | null;
  readonly models: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  readonly weight: number | null;
  readonly budget_usd: string | null;
  readonly monthly_budget_usd: string | null;
  readonly budget_raise: string | null;
  readonly group_id: string | null;
  readonly former_hash: string | null;
  readonly former_until_ms: number | null;
}

export const columnOf: Readonly<Record<keyof KeyRules, string>> = {
  name: "name",
  expiresMs: "expires_ms",
  models: "models",
  requestsPerMinute: "requests_per_minute",
  tokensPerMinute: "tokens_per_minute",
  concurrency: "concurrency",
  weight: "weight",
  budgetUsd: "budget_usd",
  monthlyBudgetUsd: "monthly_budget_usd",
  budgetRaise: "budget_raise",
  groupId: "group_id",
};
export const rules = Object.keys(columnOf) as readonly (keyof KeyRules)[]; // columnOf has exactly these keys

/** All columns, first those that are not rules. */
export const keyColumns: readonly string[] = [
  "id",
  "hash",
  "created_ms",
  "disabled_ms",
  "disabled_by_group",
  "former_hash",
  "former_until_ms",
  ...rules.map((rule) => columnOf[rule]),
];

/** Returns the values of a new row, in the order of `keyColumns`. */
export function valuesOf(key: StoredKey): (string | number | null)[] {
  const { id, hash, createdMs, disabledMs, disabledByGroupId, former } = key;
  const own = [id, hash, createdMs, disabledMs, disabledByGroupId, former?.hash, former?.untilMs];
  return [...own, ...rules.map((rule) => key[rule])].map(toColumn);
}

/** Returns the column value of a rule. Lists and raises are stored as JSON, and absent rules as NULL. */
export const toColumn = (
  value: string | number | readonly string[] | BudgetRaise | undefined,
): string | number | null => (typeof value === "object" ? JSON.stringify(value) : (value ?? null));

export const toKey = (row: KeyRow): StoredKey => ({
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
  disabledByGroupId: row.disabled_by_group ?? undefined,
  models: row.models === null ? undefined : (JSON.parse(row.models) as string[]), // written by toColumn()
  requestsPerMinute: row.requests_per_minute ?? undefined,
  tokensPerMinute: row.tokens_per_minute ?? undefined,
  concurrency: row.concurrency ?? undefined,
  weight: row.weight ?? undefined,
  budgetUsd: row.budget_usd ?? undefined,
  monthlyBudgetUsd: row.monthly_budget_usd ?? undefined,
  budgetRaise: row.budget_raise === null ? undefined : (JSON.parse(row.budget_raise) as BudgetRaise), // written by toColumn()
  groupId: row.group_id ?? undefined,
});

/** Returns a found key, from a row with the columns of the key and those of `groupsOfKey`. */
export function toFoundKey(row: KeyRow): FoundKey {
  const key = toKey(row);
  return key.groupId === undefined ? key : { ...key, groups: toGroups({ ...row }) };
}

/** Returns the error for a key whose group does not exist. */
export const noGroup = (groupId: string | undefined): GroupError =>
  new GroupError(`There is no group ${groupId}.`, "groupId");
