import type { KeyCeiling, StoredGroup } from "../accounts/groups/group-store.ts";
import { spanOf } from "../accounts/money/budgets.ts";
import { formatIn } from "../accounts/money/period.ts";
import type { Period } from "../accounts/money/period.ts";
import type { State } from "../state/open-state.ts";
import { formatTime } from "./format-time.ts";
import { toLines, toTable } from "./table.ts";

/** The JSON form of a group. Times are in UTC. */
export interface GroupListing {
  readonly id: string;
  readonly name: string;
  readonly state: "active" | "disabled";
  readonly created: string;
  readonly disabled: string | null;
  readonly parent_id: string | null;
  readonly parent: string | null;
  readonly budget_usd: string | null;
  readonly period: Period | null;
  readonly time_zone: string | null;
  /** In the running period, or ever if there is none. */
  readonly spent_usd: string;
  /** The start of the next period. */
  readonly resets_at: string | null;
  /** Number of its own keys, without those of the groups in it. */
  readonly keys: number;
  readonly max_keys: number | null;
  readonly key_ceiling: Readonly<Record<string, KeyCeiling[keyof KeyCeiling]>> | null;
}

/** Returns the JSON form of all groups, the oldest first. */
export async function listGroups({ groups, keys, ledger }: State, nowMs: number): Promise<GroupListing[]> {
  const all = await groups.list();
  const names = new Map(all.map(({ id, name }) => [id, name]));
  const stored = await keys.list();
  const listed: GroupListing[] = [];
  for (const group of all) {
    const { fromMs, toMs } = spanOf(group, nowMs);
    const spentUsd = await ledger.groupSpentUsd(group.id, { fromMs, toMs });
    const count = stored.filter(({ groupId }) => groupId === group.id).length;
    listed.push(listGroup(group, { spentUsd, toMs, count, parent: names.get(group.parentId ?? "") ?? null }));
  }
  return listed;
}

function listGroup(
  group: StoredGroup,
  facts: { readonly spentUsd: string; readonly toMs: number; readonly count: number; readonly parent: string | null },
): GroupListing {
  const { id, name, createdMs, disabledMs, parentId, budgetUsd, period, timeZone, maxKeys, keyCeiling } = group;
  return {
    id,
    name,
    state: disabledMs === undefined ? "active" : "disabled",
    created: new Date(createdMs).toISOString(),
    disabled: disabledMs === undefined ? null : new Date(disabledMs).toISOString(),
    parent_id: parentId ?? null,
    parent: facts.parent,
    budget_usd: budgetUsd ?? null,
    period: period ?? null,
    time_zone: timeZone ?? null,
    spent_usd: facts.spentUsd,
    resets_at: period === undefined ? null : new Date(facts.toMs).toISOString(),
    keys: facts.count,
    max_keys: maxKeys ?? null,
    key_ceiling: keyCeiling ? Object.fromEntries(Object.entries(keyCeiling).map(toWireName)) : null,
  };
}

const toWireName = <T>([rule, value]: [string, T]): [string, T] => [
  rule.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  value,
];

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
      group.budget_usd ?? "-",
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
    ...(resets === null || zone === null
      ? []
      : ([["starts again", `${formatIn(Date.parse(resets), zone)} (${zone})`]] as const)),
    ...Object.entries(ceiling ?? {}).map(
      ([rule, value]) => [`key ${rule.replaceAll("_", " ")}`, `at most ${[value].flat().join(", ")}`] as const,
    ),
  ]);
}
