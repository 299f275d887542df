import { isShortage } from "@parley/inference";
import { ApiError, internalError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/catalog.ts";
import { HangUpError } from "../errors/hang-up.ts";
import { escapeLineEnds } from "./escape-line-ends.ts";
import { removeLimitHeaders } from "../accounts/limits/limit-headers.ts";
import type { Log } from "../observe/log.ts";
import type { RepeatedFaults } from "../observe/refusal-sample.ts";
import type { Exchange } from "./exchange.ts";
import type { LoopTurns } from "./loop-turns.ts";
import { answerEarly, hasUnreadBody } from "./unread-body.ts";

export interface ReportDeps {
  readonly log: Log;
  readonly faults: RepeatedFaults;
  readonly turns: LoopTurns;
}

/** Answers a request with the error that ended it. All error bodies are written here, except those of `raw-errors.ts`. */
export function reportError({ log, faults, turns }: ReportDeps, exchange: Exchange, thrown: unknown): void {
  const { id, record, req, res } = exchange;
  const error =
    thrown instanceof ApiError ? thrown : isShortage(thrown) ? outOfDescriptors(thrown) : internalError(thrown);
  record.errorCode = thrown instanceof HangUpError ? "client_closed_request" : error.code;
  if (error.details?.token_fault !== undefined) record.tokenFault = error.details.token_fault;
  const bound = thrown instanceof HangUpError ? undefined : refusedBy(error);
  if (bound !== undefined) record.refusedBy = bound;
  if (error.status >= 500 && !error.isLogged && !(thrown instanceof HangUpError)) logFault({ log, faults }, id, error);
  if (res.headersSent || res.destroyed || thrown instanceof HangUpError) return void res.destroy();
  const body = Buffer.from(escapeLineEnds(JSON.stringify(error.toBody(id))));
  // If the key was disabled while its request ran, the limit headers are already set.
  if (error.status === 401) removeLimitHeaders(res);
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.setHeader("content-type", "application/json; charset=utf-8").setHeader("content-length", body.length);
  res.statusCode = error.status;
  if (hasUnreadBody(req)) answerEarly(exchange, body, turns);
  else res.end(body);
}

/** A 503 that many requests get, such as that of lost keys, is logged once in a while. Each request still has its own line. */
function logFault({ log, faults }: Pick<ReportDeps, "log" | "faults">, id: string, error: ApiError): void {
  const leftOut = error.status === 503 ? faults.next(error.message) : 0;
  if (leftOut === undefined) return;
  log.error({ request_id: id, err: error.cause ?? error, left_out: leftOut || undefined }, error.message);
}

const outOfDescriptors = (cause: unknown): ApiError =>
  new ApiError("service_unavailable", "The server is out of resources at the moment. Try again shortly.", {
    retryAfterMs: 2000,
    cause,
  });

/** The bound for each error code that has only one. */
const boundOfCode: Partial<Record<ErrorCode, string>> = {
  insufficient_quota: "budget",
  capacity_exhausted: "queue",
  request_too_large: "body",
  request_timeout: "time to send",
  context_length_exceeded: "context",
  timeout: "time",
};

/** Returns the name of the bound that refused a request: a limit of the contract, or one of the above. */
const refusedBy = ({ code, details }: ApiError): string | undefined => details?.limit ?? boundOfCode[code];
