import type { components } from "@parley/contract/admin-types";
import { formatTime } from "./format-time.ts";
import { toLines, toTable } from "./table.ts";

/** A key as the admin API and `--json` show it. It never contains the secret or its hash. Times are in UTC. */
type KeyListing = components["schemas"]["Key"];

const shown = (value: number | string | null): string => (value === null ? "-" : String(value));
/** Returns a budget with its raise, such as `50+20`. */
export const withRaise = (budget: string | null, raise: KeyListing["budget_raise"]): string =>
  budget === null || raise === null ? shown(budget) : `${budget}+${raise.usd}`;

/** Returns the line about a raise, if there is one. */
export const describeRaise = (raise: KeyListing["budget_raise"]): readonly (readonly [string, string])[] =>
  raise === null ? [] : [["raise", `${raise.usd} US dollars more until ${shownTime(raise.until)}`]];

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
      withRaise(key.budget_usd, key.budget_raise),
      key.spent_usd,
      withRaise(key.monthly_budget_usd, key.budget_raise),
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
    ...describeRaise(key.budget_raise),
    ...(key.former_secret_until === null
      ? []
      : ([["former secret", `works until ${shownTime(key.former_secret_until)}`]] as const)),
  ]);
}
