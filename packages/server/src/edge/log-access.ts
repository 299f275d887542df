import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { RefusalSample } from "../observe/refusal-sample.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import { contextOf } from "./request-context.ts";
import type { Stage } from "./stage.ts";

export interface AccessLogDeps {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Refusals of callers without a valid key are sampled; the next line says how many were left out. */
  readonly refusals: RefusalSample;
  readonly nowMs: () => number;
}

/** The logged status and code of a request whose client disconnected before the answer. */
const disconnected = { status: 499, code: "client_closed_request" } as const;

/** One line and one count per request, when its connection is done with it. Never a prompt, an answer or a key. */
export function logAccess({ log, metrics, refusals, nowMs }: AccessLogDeps): Stage {
  return function logAccess(_req, res) {
    const context = contextOf(res);
    const { record } = context;
    res.on("close", () => {
      const durationMs = Math.round(nowMs() - record.startedAtMs);
      const status = res.headersSent ? res.statusCode : disconnected.status;
      if (!res.writableFinished) record.errorCode ??= disconnected.code;
      const write = (): void => {
        metrics.countRequest(record, status, durationMs);
        const leftOut = status >= 400 && record.keyId === undefined ? refusals.next() : 0;
        if (leftOut === undefined) return;
        log.info({ ...lineOf(record, status, durationMs), left_out: leftOut || undefined }, "request");
      };
      // The operation may go on after the client disconnected: its outcome belongs in this line.
      context.work.then(write, write);
    });
  };
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
});
