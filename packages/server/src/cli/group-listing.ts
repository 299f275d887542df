import type { components } from "@parley/contract/admin-types";
import { formatIn } from "../accounts/money/period.ts";
import { formatTime } from "./format-time.ts";
import { describeRaise, withRaise } from "./key-listing.ts";
import { toLines, toTable } from "./table.ts";

/** A group as the admin API and `--json` show it. Times are in UTC. */
type GroupListing = components["schemas"]["Group"];

/** Formats groups as a table. */
export const toGroupTable = (groups: readonly GroupListing[]): string =>
  toTable(
    ["id", "name", "state", "in", "keys", "budget", "for each", "time zone", "spent"],
    groups.map((group) => [
      group.id,
      group.name,
      group.state,
      group.parent ?? "-",
      String(group.keys),
      withRaise(group.budget_usd, group.budget_raise),
      group.period ?? "-",
      group.time_zone ?? "-",
      group.spent_usd,
    ]),
  );

/** Formats one group with all its rules, for people. */
export function describeGroup(group: GroupListing): string {
  const { budget_usd: budget, period, time_zone: zone, resets_at: resets, key_ceiling: ceiling } = group;
  const spent = `${group.spent_usd} US dollars spent${period === null ? "" : ` this ${period}`}`;
  const each = period === null ? "" : ` for each ${period}`;
  return toLines([
    ["id", group.id],
    ["name", group.name],
    ["state", group.disabled === null ? "active" : `disabled since ${formatTime(Date.parse(group.disabled))}`],
    ["created", formatTime(Date.parse(group.created))],
    ["in the group", group.parent ?? "-"],
    ["keys", group.max_keys === null ? String(group.keys) : `${group.keys} of at most ${group.max_keys}`],
    ["budget", budget === null ? `none; ${spent}` : `${budget} US dollars${each}; ${spent}`],
    ...describeRaise(group.budget_raise),
    ...(resets === null || zone === null
      ? []
      : ([["starts again", `${formatIn(Date.parse(resets), zone)} (${zone})`]] as const)),
    ...Object.entries(ceiling ?? {})
      .filter(([, value]) => value !== null)
      .map(([rule, value]) => [`key ${rule.replaceAll("_", " ")}`, `at most ${[value].flat().join(", ")}`] as const),
  ]);
}
