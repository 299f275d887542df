import type { components } from "@parley/contract/admin-types";
import { formatDuration, formatTime } from "./format-time.ts";
import { toLines } from "./table.ts";

/** A request of the ledger. Its names are the same in the admin API, tables, CSV and JSON. */
export type RequestRow = components["schemas"]["Request"];

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

const endings: Readonly<Record<RequestRow["outcome"], string>> = {
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
