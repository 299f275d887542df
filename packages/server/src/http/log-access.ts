import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { RefusalSample } from "../observe/refusal-sample.ts";
import { probeOperation } from "../observe/request-record.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Exchange } from "./exchange.ts";

export interface AccessLogDeps {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "countRequest">;
  /** Samples the refusals of callers without a valid key. `left_out` in the next line is the number that was not logged. */
  readonly refusals: RefusalSample;
}

/** The logged status and code of a request whose client disconnected before the answer. */
const disconnected = { status: 499, code: "client_closed_request" } as const;

/**
 * Writes one log line and updates the metrics for a request that has ended. Neither ever contains a prompt, an answer or a
 * key.
 * @param closedMs the time at which the response closed, on the monotonic clock
 */
export function logAccess(
  { log, metrics, refusals }: AccessLogDeps,
  { record, res, trace }: Exchange,
  closedMs: number,
): void {
  const durationMs = Math.round(closedMs - record.startedAtMs);
  const status = res.headersSent ? res.statusCode : disconnected.status;
  if (!res.writableFinished) record.errorCode ??= disconnected.code;
  metrics.countRequest(record, status, durationMs);
  trace?.end(record, status, closedMs - record.startedAtMs);
  const leftOut = status >= 400 && record.keyId === undefined ? refusals.next() : 0;
  if (leftOut === undefined) return;
  // A probe comes every few seconds.
  const level = record.operation === probeOperation && status < 400 ? "debug" : "info";
  log[level]({ ...lineOf(record, status, durationMs), left_out: leftOut || undefined }, "request");
}

const lineOf = (record: RequestRecord, status: number, durationMs: number): object => ({
  request_id: record.id,
  method: record.method,
  path: record.path,
  status,
  duration_ms: durationMs,
  client: record.client,
  key_id: record.keyId,
  operation: record.operation,
  model: record.model,
  is_stream: record.isStream,
  first_event_ms: record.firstEventMs,
  prompt_tokens: record.promptTokens,
  completion_tokens: record.completionTokens,
  cost_usd: record.costUsd,
  outcome: record.outcome,
  error_code: record.errorCode,
  token_fault: record.tokenFault,
});
