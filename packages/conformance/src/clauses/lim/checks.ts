import { faultsOf } from "../../contract/contract.ts";
import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show, showHeader } from "../../judge/finding.ts";
import { valueAt, isCompletion, mustRefuse } from "../../judge/read.ts";
import { needsKey } from "../../requests/keys.ts";
import type { Answer } from "../../wire/answer.ts";
import { headerChecks } from "./headers.ts";
import { steps } from "./requests.ts";

const is429 = ({ status }: Answer): boolean => status === 429;

/** Demands that one of the requests exceeded the limit. */
function mustLimit(answers: readonly Answer[], limit: string): string {
  const refused = answers.find(is429);
  must(
    refused !== undefined,
    answers.at(-1),
    "status 429 for one of the requests",
    `the statuses ${answers.map(({ status }) => status).join(", ")}`,
  );
  must(
    valueAt(refused.json, "/error/code") === "rate_limit_exceeded",
    refused,
    'error.code "rate_limit_exceeded"',
    refused.summary,
  );
  must(
    valueAt(refused.json, "/error/details/limit") === limit,
    refused,
    `error.details.limit ${limit}`,
    `error.details.limit ${show(valueAt(refused.json, "/error/details/limit"))}`,
  );
  if (!answers.some(isCompletion)) cannot("nothing was accepted with this key");
  return `429 ${limit} beside ${answers.filter(isCompletion).length} answers`;
}

const waiting = ["beyond the requests", "beyond the tokens"];
const limited = (context: Context): readonly Answer[] => {
  const found = context.all.filter(is429);
  return found.length > 0 ? found : cannot("no request was answered with 429");
};

const checks: readonly Check[] = [
  checkOf("LIM-07", "Sends one request more than the key may in a minute.", ["beyond the requests"], (context) => {
    const answers = context.answers("beyond the requests");
    const accepted = answers.filter(isCompletion).length;
    must(
      accepted <= needsKey(context, "requests", "requestsPerMinute"),
      answers.at(-1),
      "no more than the limit accepted",
      `${accepted} accepted requests`,
    );
    return mustLimit(answers, "requests");
  }),
  checkOf("LIM-08", "Sends requests until the tokens of a key are used up.", ["beyond the tokens"], (context) =>
    mustLimit(context.answers("beyond the tokens").slice(1), "tokens"),
  ),
  checkOf(
    "LIM-09",
    "Holds as many streams as a key may, and sends one request more.",
    ["beyond the concurrency"],
    (context) => mustLimit(context.answers("beyond the concurrency"), "concurrency"),
  ),
  checkOf(
    "LIM-10",
    "Reads Retry-After and retry-after-ms of every 429.",
    waiting,
    (context) => {
      for (const answer of limited(context)) {
        const [seconds, ms] = [answer.header("retry-after") ?? "", answer.header("retry-after-ms") ?? ""];
        must(
          /^[1-9]\d*$/.test(seconds),
          answer,
          "Retry-After in whole seconds, at least 1",
          `Retry-After ${show(seconds)}`,
        );
        must(/^\d+$/.test(ms), answer, "retry-after-ms in milliseconds", `retry-after-ms ${show(ms)}`);
      }
      return `${limited(context).length} answers`;
    },
    (context) => {
      for (const answer of limited(context)) {
        const seconds = answer.header("retry-after") ?? "";
        const isTime = /^\d+(\.\d+)?$/.test(seconds) || !Number.isNaN(Date.parse(seconds));
        must(isTime, answer, "Retry-After in seconds or as a date", `Retry-After ${show(seconds)}`);
      }
      return `${limited(context).length} answers`;
    },
  ),
  checkOf("LIM-11", "Compares both waits of every 429.", waiting, (context) => {
    for (const answer of limited(context)) {
      const [seconds, ms] = [Number(answer.header("retry-after")), Number(answer.header("retry-after-ms"))];
      must(
        seconds === Math.max(1, Math.ceil(ms / 1000)),
        answer,
        `Retry-After ${Math.max(1, Math.ceil(ms / 1000))}`,
        `Retry-After ${seconds} and retry-after-ms ${ms}`,
      );
    }
    return `${limited(context).length} answers`;
  }),
  checkOf(
    "LIM-12",
    "Overdraws the tokens of a key, so that the wait is longer than a minute.",
    ["a debt of tokens"],
    (context) => {
      const long = context.all.filter((answer) => Number(answer.header("retry-after")) > 60);
      for (const answer of long)
        must(
          answer.header("x-should-retry") === "false",
          answer,
          "the header x-should-retry: false",
          showHeader(answer, "x-should-retry"),
        );
      return long.length > 0 ? `${long.length} answers` : cannot("no wait was longer than 60 seconds");
    },
  ),
  checkOf("LIM-13", "Waits as long as the 429 demands and asks again.", ["after the wait"], (context) => {
    const answer = context.answer("after the wait");
    must(isCompletion(answer), answer, "status 200 after the wait", answer.summary);
    return `accepted after ${answer.exchange.request.behaviour?.delayMs} ms`;
  }),
  checkOf(
    "LIM-14",
    "Fills the slots and the queue of a model and sends one request more.",
    ["a full queue"],
    (context) => {
      const answers = context.answers("a full queue");
      const refused = answers.filter(is429);
      must(
        refused.length > 0,
        answers.at(-1),
        "status 429 for one of the requests",
        `the statuses ${answers.map(({ status }) => status).join(", ")}`,
      );
      for (const answer of refused) {
        mustRefuse(answer, { status: 429, code: "capacity_exhausted" });
        must(
          (answer.exchange.received[0]?.atMs ?? 0) < 1000,
          answer,
          "an answer at once",
          `after ${answer.exchange.endedMs} ms`,
        );
      }
      return answers.some(isCompletion) ? `${refused.length} refused at once` : cannot("nothing was accepted");
    },
  ),
  checkOf("LIM-15", "Asks with a key whose budget is spent.", ["a spent budget", "plain"], (context) => {
    const answer = context.answer("a spent budget");
    const seen = mustRefuse(answer, { status: 402, code: "insufficient_quota" });
    const [fault] = faultsOf("KeyBudget", valueAt(answer.json, "/error/details/budget"));
    must(fault === undefined, answer, "the budget in error.details.budget", fault ?? "");
    return seen;
  }),
  checkOf("LIM-16", "Sends a prompt that alone is above the tokens a minute.", ["beyond the tokens"], (context) => {
    const answer = context.answer("beyond the tokens");
    mustRefuse(answer, { status: 429, code: "rate_limit_exceeded" });
    must(
      answer.header("x-should-retry") === "false",
      answer,
      "the header x-should-retry: false",
      showHeader(answer, "x-should-retry"),
    );
    const requested = valueAt(answer.json, "/error/details/requested");
    must(
      typeof requested === "number",
      answer,
      "a number as error.details.requested",
      `error.details.requested ${show(requested)}`,
    );
    return context.answers("beyond the tokens").some(isCompletion)
      ? "429 with x-should-retry: false"
      : cannot("nothing was accepted with this key");
  }),
  checkOf(
    "LIM-19",
    "Sends a short question without a maximum with a key that has few tokens a minute.",
    ["few tokens and no maximum"],
    (context) => {
      const answer = context.answer("few tokens and no maximum");
      const isLater = is429(answer) && answer.header("x-should-retry") !== "false";
      if (isLater) cannot("the tokens of the key were used up before");
      must(isCompletion(answer), answer, "status 200", answer.summary);
      return "answered";
    },
  ),
  checkOf(
    "LIM-17",
    "Completes, fails and abandons requests of a key with few concurrency slots, and asks again.",
    ["slots released", "beyond the concurrency"],
    (context) => {
      const answers = context.answers("slots released");
      const last = answers.at(-1);
      must(
        last !== undefined && isCompletion(last),
        last,
        "status 200 once the others have ended",
        last?.summary ?? "no answer",
      );
      const refused = answers.find(is429);
      must(refused === undefined, refused, "a slot for each of them", refused?.summary ?? "");
      return `${answers.length} requests, one after another`;
    },
  ),
  checkOf(
    "LIM-18",
    "Sends a body with a fault with a key whose budget is spent.",
    ["a spent budget and a faulty body", "plain"],
    (context) =>
      mustRefuse(context.answer("a spent budget and a faulty body"), { status: 402, code: "insufficient_quota" }),
  ),
];

export const lim: TestGroup = { steps, checks: [...checks, ...headerChecks] };
