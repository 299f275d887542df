import type { EngineUsage } from "@parley/inference";
import type { EntrySelection, LedgerEntry } from "../accounts/ledger/usage-ledger.ts";
import type { Pricing } from "../accounts/money/price.ts";
import type { Grouping, UsageSum } from "../accounts/ledger/sum-usage.ts";
import { fromTokenColumns } from "../accounts/ledger/token-columns.ts";
import type { TokenColumns } from "../accounts/ledger/token-columns.ts";

/** A row of the table `requests`, which has the same columns in SQLite and in PostgreSQL. */
export interface EntryRow extends TokenColumns {
  readonly id: string;
  readonly key_id: string;
  readonly model: string;
  readonly is_stream: number | boolean;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly outcome: LedgerEntry["outcome"];
  readonly error_code: string | null;
  readonly cost_usd: string;
  readonly prices: string;
  readonly group_id: string | null;
  readonly parent_group_id: string | null;
}

/** Returns the condition of a selection, with `?` in the place of each value. */
export function toCondition(selection: EntrySelection): {
  readonly condition: string;
  readonly values: (string | number)[];
} {
  const { sinceMs, untilMs, endedBeforeMs, keyId, model, outcome, errorCode, groupId, withinGroupId } = selection;
  const parts: readonly (readonly [condition: string, value: string | number | undefined])[] = [
    ["started_ms >= ?", sinceMs],
    ["started_ms < ?", untilMs],
    ["ended_ms < ?", endedBeforeMs],
    // Implied by the condition before it, since no entry starts after its end. It lets the database use the
    // index on `started_ms`.
    ["started_ms < ?", endedBeforeMs],
    ["key_id = ?", keyId],
    ["model = ?", model],
    ["outcome = ?", outcome],
    ["error_code = ?", errorCode],
    ["group_id = ?", groupId],
    ["? IN (group_id, parent_group_id)", withinGroupId],
  ];
  const given = parts.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  return {
    condition: ["TRUE", ...given.map(({ condition }) => condition)].join(" AND "),
    values: given.map(({ value }) => value),
  };
}

/** Returns the values of `prompt_tokens`, `cached_tokens`, `completion_tokens` and `reasoning_tokens`. */
export const countsOf = (usage: EngineUsage): number[] => [
  usage.promptTokens,
  usage.cachedTokens,
  usage.completionTokens,
  usage.reasoningTokens,
];

export const toEntry = (row: EntryRow): LedgerEntry => ({
  ...groupIdsOf(row),
  id: row.id,
  keyId: row.key_id,
  model: row.model,
  isStream: Boolean(row.is_stream),
  startedMs: row.started_ms,
  pricing: JSON.parse(row.prices) as Pricing, // written by open()
  usage: fromTokenColumns(row),
  costUsd: row.cost_usd,
  outcome: row.outcome,
  errorCode: row.error_code ?? undefined,
  endedMs: row.ended_ms ?? undefined,
});

function groupIdsOf({ group_id: own, parent_group_id: parent }: EntryRow): Pick<LedgerEntry, "groupIds"> {
  if (own === null) return {};
  return { groupIds: parent === null ? [own] : [own, parent] };
}

/** The expressions by which entries are grouped. A day is the number of days since 1970. */
export const groupColumns: Readonly<Record<Grouping, string>> = {
  key: "key_id",
  model: "model",
  day: "started_ms / 86400000",
  group: "coalesce(group_id, '')",
};

export const tokenSums = ["prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"]
  .map((column) => `sum(${column}) AS ${column}`)
  .join(", ");

/** The sums of a group. Large numbers may be strings or of type bigint. */
export type SumRow = Readonly<Record<"group" | "requests" | keyof TokenColumns, string | number | bigint>>;

/** Returns sums, sorted by group. @param rows with `cost_usd` as a decimal string */
export function toSums(rows: readonly (SumRow & { readonly cost_usd: string })[], by: Grouping): UsageSum[] {
  const groupOf = ({ group }: SumRow): string =>
    by === "day" ? new Date(Number(group) * 86_400_000).toISOString().slice(0, 10) : String(group);
  const sums = rows.map((row): UsageSum => {
    const counts = {
      requests: Number(row.requests),
      prompt_tokens: Number(row.prompt_tokens),
      cached_tokens: Number(row.cached_tokens),
      completion_tokens: Number(row.completion_tokens),
      reasoning_tokens: Number(row.reasoning_tokens),
      cost_usd: row.cost_usd,
    };
    return [groupOf(row), counts];
  });
  return sums.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
