import { checkOf } from "../../judge/check.ts";
import type { Check, TestGroup } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show, showHeader } from "../../judge/finding.ts";
import { givenCompletion, isCompletion, isRecord, mustRefuse, valueAt } from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import { slowText } from "../../scenarios.ts";
import { steps } from "./requests.ts";

const replayed = "idempotent-replayed";

/** The answers of a step with two requests, of which the first one has to be answered. */
function pairOf(context: Context, step: string): readonly [first: Answer, second: Answer] {
  const [first, second] = context.answers(step);
  if (!first || !second) cannot(`"${step}" was not sent`);
  givenCompletion(first);
  return [first, second];
}

/** The events of an answer without comments, or its body. */
const contentOf = (answer: Answer): string =>
  answer.mediaType === "text/event-stream" ? answer.stream.events.map(({ data }) => data).join("\n") : answer.text;

/** The time at which an exchange ended, in Unix milliseconds. */
const endOf = ({ exchange }: Answer): number => Date.parse(exchange.startedAt) + exchange.endedMs;

/** Demands that the records of an answer have no cost. */
function mustBeFree(context: Context, answer: Answer): void {
  const charged = recordsOf(context, answer).find((record) => Number(valueAt(record, "/cost_usd") ?? 0) !== 0);
  must(charged === undefined, answer, "no charge", `the charge ${show(charged)}`);
}

function recordsOf(context: Context, { name }: Answer): readonly unknown[] {
  const record = context.record(name);
  return (Array.isArray(record) ? record : [record]).filter(isRecord);
}

const checks: readonly Check[] = [
  checkOf(
    "IDEM-01",
    "Sends a whole answer's request again, and a stream's, and compares the bytes.",
    ["a repeated call", "a repeated stream"],
    (context) => {
      for (const step of ["a repeated call", "a repeated stream"]) {
        const [first, second] = pairOf(context, step);
        must(isCompletion(second), second, "status 200 with the answer", second.summary);
        must(second.header(replayed) === "true", second, `the header ${replayed}: true`, showHeader(second, replayed));
        must(first.header(replayed) === undefined, first, `no ${replayed}`, showHeader(first, replayed));
        must(contentOf(second) === contentOf(first), second, "the bytes of the first answer", "other bytes");
      }
      return "two answers came again";
    },
  ),
  checkOf("IDEM-02", "Sends the request of a running stream again.", ["a repetition of a running call"], (context) => {
    const [first, second] = pairOf(context, "a repetition of a running call");
    const seen = mustRefuse(second, { status: 409, code: "request_in_progress" });
    const [named, id] = [valueAt(second.json, "/error/details/request_id"), first.header("x-request-id")];
    must(named === id, second, `error.details.request_id ${show(id)}`, `error.details.request_id ${show(named)}`);
    return seen;
  }),
  checkOf(
    "IDEM-03",
    "Sends the key of an answered request with another body.",
    ["a key with another body", "a repeated call"],
    (context) => {
      pairOf(context, "a repeated call");
      return mustRefuse(context.answer("a key with another body"), { status: 422, code: "idempotency_key_reused" });
    },
  ),
  checkOf(
    "IDEM-04",
    "Looks for a record of an answer that came again, while the first one has its record.",
    ["a repeated call"],
    (context) => {
      const [first, second] = pairOf(context, "a repeated call");
      mustBeFree(context, second);
      return recordsOf(context, first).length > 0 ? "no charge" : cannot("not even the first answer is recorded");
    },
  ),
  checkOf(
    "IDEM-05",
    "Sends the key of a request that was refused with a valid body.",
    ["a key after a failure"],
    (context) => {
      const [failed, next] = context.answers("a key after a failure");
      if (!failed || !next || (failed.status ?? 0) < 400) cannot("the first request was not refused");
      must(isCompletion(next), next, "status 200 with a chat completion", next.summary);
      must(next.header(replayed) === undefined, next, `no ${replayed}`, showHeader(next, replayed));
      return `200 after ${failed.status}`;
    },
  ),
  checkOf(
    "IDEM-06",
    "Sends the name and the body of an answered request with another API key.",
    ["one name of two keys", "a repeated call"],
    (context) => {
      pairOf(context, "a repeated call");
      const answer = context.answer("one name of two keys");
      must(isCompletion(answer), answer, "status 200 with a chat completion", answer.summary);
      must(answer.header(replayed) === undefined, answer, `no ${replayed}`, showHeader(answer, replayed));
      return "an answer of its own";
    },
  ),
  checkOf(
    "IDEM-07",
    "Sends an empty key, one of 256 characters and one that comes twice.",
    ["malformed idempotency keys", "a repeated call"],
    (context) => {
      pairOf(context, "a repeated call");
      const wanted = { status: 400, code: "invalid_value", param: "Idempotency-Key" };
      return context
        .answers("malformed idempotency keys")
        .map((answer) => mustRefuse(answer, wanted))
        .join("; ");
    },
  ),
  checkOf(
    "IDEM-08",
    "Disconnects from a plain answer that is being generated, and sends its request again.",
    ["a repetition of a call that was left"],
    (context) => {
      const [first, second, ...later] = context.answers("a repetition of a call that was left");
      if (first?.exchange.end !== "disconnected") cannot("the suite could not disconnect before the answer");
      if (second?.status !== 409 || endOf(second) > endOf(first)) cannot("the answer was not yet generated");
      // The first answer may still be generated.
      const again = later.find(({ status }) => status !== 409) ?? later.at(-1);
      must(again !== undefined && isCompletion(again), again, "status 200 with the answer", again?.summary ?? "none");
      must(again.header(replayed) === "true", again, `the header ${replayed}: true`, showHeader(again, replayed));
      const text = valueAt(again.json, "/choices/0/message/content");
      must(text === slowText, again, `the whole text ${show(slowText)}`, `the text ${show(text)}`);
      mustBeFree(context, again);
      return "the answer was finished, and came again";
    },
  ),
];

export const idem: TestGroup = { steps, checks };
