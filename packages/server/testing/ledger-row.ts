import type { Pricing } from "../src/accounts/money/price.ts";
import { toTokenColumns } from "../src/accounts/ledger/token-columns.ts";
import type { TokenColumns } from "../src/accounts/ledger/token-columns.ts";
import type { LedgerEntry } from "../src/accounts/ledger/usage-ledger.ts";

/** A ledger entry with the names of its columns, for comparisons in tests. */
export interface LedgerRow extends TokenColumns {
  readonly id: string;
  readonly key_id: string;
  readonly model: string;
  readonly is_stream: boolean;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly outcome: LedgerEntry["outcome"];
  readonly error_code: string | null;
  readonly cost_usd: string;
  readonly prices: Pricing;
}

export const toLedgerRow = (entry: LedgerEntry): LedgerRow => ({
  id: entry.id,
  key_id: entry.keyId,
  model: entry.model,
  is_stream: entry.isStream,
  started_ms: entry.startedMs,
  ended_ms: entry.endedMs ?? null,
  outcome: entry.outcome,
  error_code: entry.errorCode ?? null,
  ...toTokenColumns(entry.usage),
  cost_usd: entry.costUsd,
  prices: entry.pricing,
});
