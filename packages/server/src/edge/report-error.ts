import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError, internalError } from "../errors/api-error.ts";
import { HangUp } from "../errors/hang-up.ts";
import { escapeLineEnds } from "../escape-line-ends.ts";
import { removeLimitHeaders, setLimitHeaders } from "../limits/limit-headers.ts";
import type { Limits } from "../limits/limits.ts";
import type { Log } from "../observe/log.ts";
import { refusedBy } from "../observe/refused-by.ts";
import type { LoopTurns } from "./loop-turns.ts";
import { contextOf } from "./request-context.ts";
import { findCallerOf } from "./require-key.ts";
import type { FailureStage } from "./stage.ts";
import { cancelEntry } from "./take-entry.ts";
import { answerEarly, hasUnreadBody } from "./unread-body.ts";

/** Cancels what a request has taken from the limits where the service could not serve it, and answers with the error. */
export function failRequest(limits: Limits, log: Log, turns: LoopTurns): FailureStage {
  return async function failRequest(thrown, req, res) {
    try {
      const cause: unknown = await giveBack(limits, thrown, res).then(
        () => thrown,
        (error: unknown) => error,
      );
      reportError(log, cause, req, res, turns);
    } catch (error) {
      log.error({ err: error }, "a request could not be answered");
      res.destroy();
    }
  };
}

/** Whoever has shown a key is told where it stands, and gets back what it has not used. */
async function giveBack(limits: Limits, thrown: unknown, res: ServerResponse): Promise<void> {
  await cancelEntry(thrown, res);
  const caller = findCallerOf(res);
  if (caller && !res.headersSent) await setLimitHeaders(res, limits, caller);
}

/** The only writer of error bodies that follow a request head. */
function reportError(log: Log, thrown: unknown, req: IncomingMessage, res: ServerResponse, turns: LoopTurns): void {
  const { id, record } = contextOf(res);
  const error = thrown instanceof ApiError ? thrown : internalError(thrown);
  record.errorCode = thrown instanceof HangUp ? "client_closed_request" : error.code;
  const bound = thrown instanceof HangUp ? undefined : refusedBy(error);
  if (bound !== undefined) record.refusedBy = bound;
  if (error.status >= 500 && !(thrown instanceof HangUp))
    log.error({ request_id: id, err: error.cause ?? error }, error.message);
  if (res.headersSent || res.destroyed || thrown instanceof HangUp) return void res.destroy();
  const body = Buffer.from(escapeLineEnds(JSON.stringify(error.toBody(id))));
  // A key can be disabled while its request runs, when these headers are already set.
  if (error.status === 401) removeLimitHeaders(res);
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.setHeader("content-type", "application/json; charset=utf-8").setHeader("content-length", body.length);
  res.statusCode = error.status;
  if (hasUnreadBody(req)) answerEarly(req, res, body, turns);
  else res.end(body);
}
