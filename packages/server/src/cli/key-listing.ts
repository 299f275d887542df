import type { StoredKey } from "../accounts/keys/key-store.ts";
import { formatTime } from "./format-time.ts";
import { toLines, toTable } from "./table.ts";

/** The JSON form of a key. It never contains the secret or its hash. Times are in UTC. */
export interface KeyListing {
  readonly id: string;
  readonly name: string;
  readonly group_id: string | null;
  /** The name of its group. */
  readonly group: string | null;
  readonly state: "active" | "disabled" | "expired";
  readonly created: string;
  readonly expires: string | null;
  readonly disabled: string | null;
  /** The time until which the secret before the last rotation still works. */
  readonly former_secret_until: string | null;
  /** Null: all. */
  readonly models: readonly string[] | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly budget_usd: string | null;
  readonly spent_usd: string;
  readonly monthly_budget_usd: string | null;
  readonly spent_this_month_usd: string;
}

/**
 * @param spent US dollars that the key has spent, ever and this month; undefined: nothing
 * @param groups the names of groups by id
 */
export function listKey(
  key: StoredKey,
  [spentUsd = "0", spentThisMonthUsd = "0"]: readonly [string | undefined, string | undefined],
  groups: ReadonlyMap<string, string>,
  nowMs: number,
): KeyListing {
  const { former } = key;
  return {
    id: key.id,
    name: key.name,
    group_id: key.groupId ?? null,
    group: orNull(key.groupId, (id) => groups.get(id) ?? id),
    state: stateOf(key, nowMs),
    created: isoTime(key.createdMs),
    expires: orNull(key.expiresMs, isoTime),
    disabled: orNull(key.disabledMs, isoTime),
    former_secret_until: former && former.untilMs > nowMs ? isoTime(former.untilMs) : null,
    models: key.models ?? null,
    requests_per_minute: key.requestsPerMinute ?? null,
    tokens_per_minute: key.tokensPerMinute ?? null,
    concurrency: key.concurrency ?? null,
    weight: key.weight ?? 1,
    budget_usd: key.budgetUsd ?? null,
    spent_usd: spentUsd,
    monthly_budget_usd: key.monthlyBudgetUsd ?? null,
    spent_this_month_usd: spentThisMonthUsd,
  };
}

function stateOf({ disabledMs, expiresMs }: StoredKey, nowMs: number): KeyListing["state"] {
  if (disabledMs !== undefined) return "disabled";
  return expiresMs !== undefined && expiresMs <= nowMs ? "expired" : "active";
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
const orNull = <T, U>(value: T | undefined, to: (value: T) => U): U | null => (value === undefined ? null : to(value));
const shown = (value: number | string | null): string => (value === null ? "-" : String(value));
const shownTime = (time: string | null): string => (time === null ? "-" : formatTime(Date.parse(time)));

/** Formats keys as a table. Their limits are only in `describeKey`, and groups are only there if a key has one. */
export function toKeyTable(keys: readonly KeyListing[]): string {
  const areGrouped = keys.some(({ group }) => group !== null);
  return toTable(
    `id,name,${areGrouped ? "group," : ""}state,expires,models,weight,budget,spent,monthly budget,this month`.split(
      ",",
    ),
    keys.map((key) => [
      key.id,
      key.name,
      ...(areGrouped ? [shown(key.group)] : []),
      key.state,
      shownTime(key.expires),
      key.models?.join(",") ?? "all",
      String(key.weight),
      shown(key.budget_usd),
      key.spent_usd,
      shown(key.monthly_budget_usd),
      key.spent_this_month_usd,
    ]),
  );
}

/** Formats one key with all its rules, for people. */
export function describeKey(key: KeyListing): string {
  const perMinute = (limit: number | null, what: string): string =>
    limit === null ? "that of the server" : `${limit} ${what} a minute`;
  const budget = (limit: string | null, spent: string): string =>
    limit === null ? `none; ${spent} US dollars spent` : `${limit} US dollars, of which ${spent} are spent`;
  return toLines([
    ["id", key.id],
    ["name", key.name],
    ...(key.group === null ? [] : ([["group", key.group]] as const)),
    ["state", key.disabled === null ? key.state : `disabled since ${shownTime(key.disabled)}`],
    ["created", shownTime(key.created)],
    ["expires", key.expires === null ? "never" : shownTime(key.expires)],
    ["models", key.models?.join(", ") ?? "all"],
    ["requests", perMinute(key.requests_per_minute, "requests")],
    ["tokens", perMinute(key.tokens_per_minute, "tokens")],
    ["concurrency", key.concurrency === null ? "no limit" : `${key.concurrency} requests at the same time`],
    ["weight", String(key.weight)],
    ["budget", budget(key.budget_usd, key.spent_usd)],
    ["this month", budget(key.monthly_budget_usd, key.spent_this_month_usd)],
    ...(key.former_secret_until === null
      ? []
      : ([["former secret", `works until ${shownTime(key.former_secret_until)}`]] as const)),
  ]);
}
