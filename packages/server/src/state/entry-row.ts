import type { EngineUsage } from "@parley/inference";
import type { EntrySelection, LedgerEntry } from "../accounts/ledger/usage-ledger.ts";
import type { Pricing } from "../accounts/money/price.ts";
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
}

/** Returns the condition of a selection, with `?` in the place of each value. */
export function toCondition(selection: EntrySelection): {
  readonly condition: string;
  readonly values: (string | number)[];
} {
  const { sinceMs, untilMs, endedBeforeMs, keyId, model, outcome, errorCode } = selection;
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
