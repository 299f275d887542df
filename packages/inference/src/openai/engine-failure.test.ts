import { errors } from "undici";
import { expect, test } from "vitest";
import { readCapture } from "../../testing/captures.ts";
import { EngineError } from "../engine.ts";
import { RequestRefusedError } from "../request-refused.ts";
import { RefusedAnswerError, findMessage } from "../wire/refused-answer.ts";
import { asEngineError } from "./engine-failure.ts";

const refused = (name: string): RefusedAnswerError => {
  const { status, body } = readCapture(name);
  return new RefusedAnswerError(status, findMessage(body));
};
const coded = (code: string): Error => Object.assign(new Error("hung up"), { code });

test.each<[string, unknown, string, string]>([
  ["a grammar that it cannot read", refused("completion-bad-guide"), "rejected", "Invalid structured_outputs"],
  ["another model's name", refused("completion-other-model"), "unavailable", "does not exist"],
  ["an unknown path: another form of body", refused("err-404"), "unavailable", "Not Found"],
  ["a wrong key: a string for an error", refused("err-wrong-key"), "unavailable", "HTTP 401: Unauthorized"],
  ["a full queue", refused("err-queue-full"), "unavailable", "currently busy"],
  ["a full queue, streamed", refused("err-queue-full-stream"), "unavailable", "currently busy"],
  [
    "a page of HTML",
    new RefusedAnswerError(502, findMessage("<html><style>a{}</style><h1>Bad\nGateway</h1>")),
    "crashed",
    "HTTP 502: Bad Gateway",
  ],
  ["nobody there", coded("ECONNREFUSED"), "unavailable", "hung up"],
  ["a silent engine", new errors.BodyTimeoutError("hung up"), "stalled", "hung up"],
  ["a broken connection", coded("UND_ERR_SOCKET"), "crashed", "hung up"],
])("%s: our own words, its words as the cause", (_title, error, kind, cause) => {
  const failure = asEngineError(error) as EngineError; // checked below
  expect(failure.kind).toBe(kind);
  expect(failure.message).not.toContain(cause);
  expect(String(failure.cause)).toContain(cause);
});

test("an error that may be shown to a caller stays unchanged", () => {
  const refused = new RequestRefusedError("Too long.", { param: "stop[1]" });
  expect(asEngineError(refused)).toMatchObject({ kind: "rejected", message: "Too long.", param: "stop[1]" });
  const own = new EngineError("protocol", "odd");
  expect(asEngineError(own)).toBe(own);
});

test("a fault in our own code is not reported as the engine's", () => {
  const ours = new TypeError("undefined is not a function");
  expect(asEngineError(ours)).toBe(ours);
});

test.each([
  ["a member of a member", '{"error": {"message": "a"}}', "a"],
  ["a string for an error", '{"error": "b"}', "b"],
  ["a detail", '{"detail": "c"}', "c"],
  ["a list of details", '{"detail": [{"loc": ["body"]}]}', '{"loc":["body"]}'],
  ["plain text", "d\n", "d"],
  ["nothing", "", ""],
  ["null", "null", "null"],
  ["bytes that would control a terminal", "\u001B[2Jgone", "[2Jgone"],
])("finds the message in %s", (_title, body, want) => {
  expect(findMessage(body)).toContain(want);
});

const date = "Wed, 21 Oct 2015 07:27:00 GMT";

test.each([
  ["seconds", 429, { "retry-after": "7" }, 7000],
  ["a date", 503, { date, "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 60_000],
  ["a date without a clock", 503, { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, undefined],
  ["nonsense", 503, { "retry-after": "soon" }, undefined],
  ["nonsense that JavaScript takes for a date", 503, { date, "retry-after": "-5" }, undefined],
  ["a fraction", 503, { date, "retry-after": "1.5" }, undefined],
  ["a date that has passed", 503, { date, "retry-after": "Wed, 21 Oct 2015 07:26:00 GMT" }, 0],
  ["more seconds than a number holds", 503, { "retry-after": "9".repeat(400) }, Infinity],
  ["two values", 503, { "retry-after": ["3", "soon", "9"] }, 9000],
  ["a status that otherwise means a bad request, dropped", 400, { "x-llm-d-request-dropped-reason": "x" }, undefined],
  ["a dropped request with another status", 412, { "x-llm-d-request-dropped-reason": "evicted" }, undefined],
])("a front that is full, with %s, is unavailable until then", (_title, status, headers, retryAfterMs) => {
  const failure = asEngineError(new RefusedAnswerError(status, "", headers));
  expect(failure).toMatchObject({ kind: "unavailable", message: "the engine is busy", retryAfterMs });
});

test.each([204, 206, 307])(
  "the status %i is a failure: only 200 is an answer, and no redirect is followed",
  (status) => {
    expect(asEngineError(new RefusedAnswerError(status, "", {}))).toMatchObject({ kind: "crashed" });
  },
);

test("a request that is too large for the front is refused, because sending it again would not help", () => {
  expect(asEngineError(new RefusedAnswerError(413, "", {}))).toMatchObject({ kind: "rejected" });
});
