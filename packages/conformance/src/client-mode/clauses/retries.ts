import { answerWhole, envelope, event, chunksOf, openStream, reply, send, stream, text } from "../answers.ts";
import type { Serve } from "../scripted-server.ts";
import { pause } from "../scripted-server.ts";
import { both, broken, givesError, givesText, notApplicable, sends, show } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

type Headers = Readonly<Record<string, string>>;

/** Refuses the first request and answers the next ones. */
const first =
  (status: number, code: string, headers: Headers | (() => Headers)): Serve =>
  (request, wire) =>
    request.index === 0
      ? reply(wire, status, envelope(status, code), typeof headers === "function" ? headers() : headers)
      : answerWhole(request, wire);

const always =
  (status: number, code: string, headers: Headers = {}): Serve =>
  (_request, wire) =>
    reply(wire, status, envelope(status, code), headers);

const sameBody: Case["judge"] = ({ requests: [one, two] }) =>
  one && two && !one.body.equals(two.body) ? broken("the same body again", show(two.body.toString())) : undefined;

/** Judges that the second request came after this wait. It does not apply to an SDK that sends none. */
const waits =
  (wantedMs: number): Case["judge"] =>
  ({ requests: [one, two] }) => {
    if (!one || !two) return notApplicable("it does not retry this by itself");
    const waitedMs = Math.round(two.atMs - one.atMs);
    return waitedMs >= wantedMs
      ? undefined
      : broken(`the second request at least ${wantedMs} ms after the first`, `${waitedMs} ms`);
  };

/** Clocks and timers may be this much early, in milliseconds. */
const tolerance = 20;

const inTwoSeconds = (): Headers => ({ "retry-after": new Date(Date.now() + 2000).toUTCString() });

const oneRequest = sends(1, 1);

const refusedOnce = (status: number, code: string): Case => ({
  name: String(status),
  serve: always(status, code),
  judge: both(givesError, oneRequest),
});

const beginning = chunksOf(text).slice(0, 3).map(event).join("");

const brokenStream: Serve = async (_request, wire) => {
  await openStream(wire);
  await send(wire, beginning);
  await pause(wire, 100);
  wire.close();
};

const limitMs = 30_000;

export const retryClauses: readonly ClientClause[] = [
  {
    id: "CLNT-30",
    keyword: "SHOULD",
    sentence: "A 503 is retried with the same body until it works or the attempts are used up.",
    why: "Each restart of a server reaches the users as an error.",
    comply: "Retry 408, 429, 500, 502, 503 and 504 with growing pauses, twice by default.",
    cases: [
      {
        name: "503, then an answer",
        limitMs,
        serve: first(503, "service_unavailable", {}),
        judge: both(sends(2, 2), sameBody, givesText(text)),
      },
    ],
  },
  {
    id: "CLNT-31",
    keyword: "MUST",
    sentence: "`Retry-After` in seconds is waited for before a retry.",
    why: "Retries that come too early use up the attempts, and keep a server overloaded.",
    comply: "Read the header of a 429 or 503, and wait at least that long.",
    cases: [
      {
        name: "429",
        limitMs,
        serve: first(429, "rate_limit_exceeded", { "retry-after": "3" }),
        judge: waits(3000 - tolerance),
      },
      {
        name: "503",
        limitMs,
        serve: first(503, "service_unavailable", { "retry-after": "3" }),
        judge: waits(3000 - tolerance),
      },
    ],
  },
  {
    id: "CLNT-32",
    keyword: "SHOULD",
    sentence: "The other retry advice is followed: `retry-after-ms`, `Retry-After` as a date, `x-should-retry: false`.",
    why: "A retry comes too early, or one is sent that cannot work.",
    comply: "Read `retry-after-ms` before `retry-after`. Parse the second as a number or a date.",
    cases: [
      {
        name: "retry-after-ms",
        limitMs,
        serve: first(429, "rate_limit_exceeded", { "retry-after-ms": "2500", "retry-after": "3" }),
        judge: waits(2500 - tolerance),
      },
      // A date has whole seconds, so up to one second less than two is left.
      { name: "date", limitMs, serve: first(429, "rate_limit_exceeded", inTwoSeconds), judge: waits(1000 - tolerance) },
      {
        name: "x-should-retry: false",
        limitMs,
        serve: always(503, "service_unavailable", { "x-should-retry": "false" }),
        judge: both(givesError, oneRequest),
      },
    ],
  },
  {
    id: "CLNT-33",
    keyword: "MUST",
    sentence: "Retries are bounded: by the number that the caller set, and in time if the server names an hour.",
    why: "A program sleeps for an hour without a word, or calls a broken server for ever.",
    comply: "Stop after the set number. If the wait is longer than a minute, give the error to the caller.",
    cases: [
      { name: "always 500", limitMs, serve: always(500, "internal_error"), judge: both(givesError, sends(1, 3)) },
      {
        name: "Retry-After: 3600",
        limitMs,
        serve: always(429, "rate_limit_exceeded", { "retry-after": "3600" }),
        judge: both(givesError, sends(1, 3)),
      },
    ],
  },
  {
    id: "CLNT-34",
    keyword: "MUST",
    sentence: "A request that cannot work is sent once: 400, 401, 402, 404, 413.",
    why: "Each mistake takes several times as long and uses up the limit of requests.",
    comply: "Retry no status below 500 except 408, 409 and 429.",
    cases: [
      refusedOnce(400, "invalid_value"),
      refusedOnce(401, "invalid_api_key"),
      refusedOnce(402, "insufficient_quota"),
      refusedOnce(404, "model_not_found"),
      refusedOnce(413, "request_too_large"),
    ],
  },
  {
    id: "CLNT-35",
    keyword: "MUST",
    sentence: "A stream that has begun is not requested again by itself.",
    why: "The caller gets a text twice, or the beginning of one answer and the end of another, and pays both.",
    comply: "Retry only until the first byte of a successful answer.",
    cases: [
      { name: "broken connection", task: { call: "stream" }, limitMs, serve: brokenStream, judge: oneRequest },
      {
        name: "error event",
        task: { call: "stream" },
        limitMs,
        serve: (_request, wire) => stream(wire, beginning, event(JSON.stringify(envelope(502, "upstream_error")))),
        judge: oneRequest,
      },
    ],
  },
];
