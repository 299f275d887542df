import { toTokenColumns } from "../accounts/ledger/token-columns.ts";
import type { TokenColumns } from "../accounts/ledger/token-columns.ts";
import type { LedgerEntry } from "../accounts/ledger/usage-ledger.ts";
import { formatDuration, formatTime } from "./format-time.ts";
import { toLines } from "./table.ts";

/** A request of the ledger. Its names are the same in tables, CSV and JSON. */
export interface RequestRow extends TokenColumns {
  readonly id: string;
  /** ISO 8601, in UTC. */
  readonly started: string;
  /** Null while it runs. */
  readonly ended: string | null;
  readonly key_id: string;
  readonly key_name: string;
  readonly model: string;
  readonly is_stream: boolean;
  readonly outcome: LedgerEntry["outcome"];
  readonly error_code: string | null;
  readonly cost_usd: string;
  /** The prices in US dollars when the request started: per token, and per request. */
  readonly prompt_price: string;
  readonly completion_price: string;
  readonly request_price: string;
  readonly cached_price: string;
}

/** Returns the row of a ledger entry. @param names names of keys by id */
export const toRequestRow = (entry: LedgerEntry, names: ReadonlyMap<string, string>): RequestRow => ({
  id: entry.id,
  started: new Date(entry.startedMs).toISOString(),
  ended: entry.endedMs === undefined ? null : new Date(entry.endedMs).toISOString(),
  key_id: entry.keyId,
  key_name: names.get(entry.keyId) ?? "",
  model: entry.model,
  is_stream: entry.isStream,
  outcome: entry.outcome,
  error_code: entry.errorCode ?? null,
  ...toTokenColumns(entry.usage),
  cost_usd: entry.costUsd,
  prompt_price: entry.pricing.prompt,
  completion_price: entry.pricing.completion,
  request_price: entry.pricing.request,
  cached_price: entry.pricing.input_cache_read ?? entry.pricing.prompt,
});

export type RequestColumn = keyof RequestRow;

export const requestColumns: readonly RequestColumn[] = [
  "id",
  "started",
  "ended",
  "key_id",
  "key_name",
  "model",
  "is_stream",
  "outcome",
  "error_code",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "cost_usd",
  "prompt_price",
  "completion_price",
  "request_price",
  "cached_price",
];

/** The columns that fit on a terminal. */
export const tableColumns: readonly RequestColumn[] = [
  "id",
  "started",
  "key_name",
  "model",
  "outcome",
  "error_code",
  "prompt_tokens",
  "completion_tokens",
  "cost_usd",
];

export const toCells = (row: RequestRow, columns: readonly RequestColumn[]): string[] =>
  columns.map((column) => String(row[column] ?? ""));

const endings: Readonly<Record<LedgerEntry["outcome"], string>> = {
  open: "is running",
  complete: "complete",
  cancelled: "cancelled by the client",
  failed: "failed",
  abandoned: "abandoned: the server died",
};

/** Formats one request for people. */
export function describeRequest(row: RequestRow): string {
  const startedMs = Date.parse(row.started);
  const endedMs = row.ended === null ? undefined : Date.parse(row.ended);
  const ended =
    endedMs === undefined ? "not yet" : `${formatTime(endedMs)}, after ${formatDuration(endedMs - startedMs)}`;
  const tokens = (count: number, part: number, what: string): string => `${count} tokens, ${part} of them ${what}`;
  return toLines([
    ["request", row.id],
    ["outcome", `${endings[row.outcome]}${row.error_code === null ? "" : `, with the error ${row.error_code}`}`],
    ["key", `${row.key_name} (${row.key_id})`],
    ["model", row.model],
    ["started", formatTime(startedMs)],
    ["ended", ended],
    ["answer", row.is_stream ? "streamed" : "whole"],
    ["prompt", tokens(row.prompt_tokens, row.cached_tokens, "cached")],
    ["completion", tokens(row.completion_tokens, row.reasoning_tokens, "reasoning")],
    ["cost", `${row.cost_usd} US dollars`],
    [
      "prices",
      `${row.prompt_price} for a prompt token, ${row.cached_price} for a cached one, ${row.completion_price} for a completion token, ${row.request_price} for the request`,
    ],
  ]);
}
