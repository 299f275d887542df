import { edgeStatuses, limit } from "../../contract/contract.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import { cannot, must, showHeader } from "../../judge/finding.ts";
import { valueAt, mustRefuse } from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import { acceptedChecks } from "./accepted.ts";
import { browserChecks, browserSteps } from "./browsers.ts";
import { slowChecks, slowSteps } from "./deadlines.ts";
import { everyAnswerChecks } from "./every-answer.ts";
import { isSent, plans, steps, unreadable, unreadableName, wrongMethod } from "./requests.ts";
import type { Unreadable } from "./requests.ts";

const checks: readonly Check[] = [
  {
    clause: "HTTP-02",
    how: "Looks at `Allow` of the answer to a wrong method.",
    uses: ["HTTP-02 DELETE of createChatCompletion"],
    judge: (context) => {
      const answer = context.answers("HTTP-02 DELETE of createChatCompletion")[0];
      return answer ? mustAllow(answer, "POST") : "";
    },
  },
  {
    clause: "HTTP-03",
    how: "Sends HEAD to the listing with a valid key.",
    uses: ["HEAD", "models"],
    judge: (context) => {
      const answer = context.answer("HEAD");
      must(answer.status === 405, answer, "status 405", answer.summary);
      return mustAllow(answer, "GET");
    },
  },
  {
    clause: "HTTP-04",
    how: "Sends OPTIONS without the headers of a preflight.",
    uses: ["OPTIONS", "models"],
    judge: (context) => {
      const answer = context.answer("OPTIONS");
      mustRefuse(answer, wrongMethod);
      return mustAllow(answer, "GET");
    },
  },
  {
    clause: "HTTP-08",
    how: "Sends a body of exactly the largest size that is not an object, and expects an error about its type, not its size.",
    uses: ["HTTP-16 an array of the largest size", "a short array"],
    judge: (context) => {
      const answer = context.answer("HTTP-16 an array of the largest size");
      // If the large array gets an odd answer, a short one shows whether its size is the reason.
      const isOdd = answer.status !== 200 && answer.status !== 400;
      const wanted = isOdd ? context.answer("a short array").status : answer.status;
      must(
        answer.status !== undefined && answer.status === wanted,
        answer,
        `status ${wanted}, as for a short one`,
        answer.summary,
      );
      return `${answer.status} to ${limit("maxBodyBytes")} bytes`;
    },
  },
  {
    clause: "HTTP-21",
    how: "Looks at requests with two faults each: the first one in the order of the contract has to be reported.",
    uses: [
      "several faults",
      "HTTP-05 DELETE of a path that is not there",
      "HTTP-02 DELETE of createChatCompletion",
      "HTTP-09 text/plain",
      "HTTP-07 a body of one byte too many",
      "AUTH-11 another method of a path that is not there",
    ],
    judge: (context) => {
      const seen = [
        mustRefuse(context.answer("several faults"), { status: 400, code: "invalid_value", param: "top_p" }),
      ];
      for (const [step, status, code] of orderedFaults) seen.push(mustRefuse(context.answer(step), { status, code }));
      return seen.join("; ");
    },
  },
  {
    clause: "HTTP-22",
    how: "Sends bytes that are not an HTTP request and expects the envelope with a code of x-edge-statuses.",
    uses: unreadable.map(({ title }) => unreadableName(title)),
    cases: (context) => ({
      tried: unreadable.filter((_, index) => isSent(index, context)).length,
      of: unreadable.length,
    }),
    judge: (context) => {
      const sent = unreadable.filter((_, index) => isSent(index, context));
      return sent.map((one) => mustBeEdge(context.answer(unreadableName(one.title)), one)).join("; ");
    },
  },
  {
    clause: "HTTP-23",
    how: "Sends two faulty requests and one for a model object on one connection, and the last one alone if it was not answered with 200.",
    uses: ["after an error", "retrieve, raw"],
    judge: (context) => {
      const [broken, unknown, good] = context.answers("after an error");
      if (broken?.status === 200) cannot(`"${broken.name}" was accepted`);
      must(
        broken?.isWhole === true && broken.status !== undefined && broken.status >= 400,
        broken,
        "an error",
        broken?.summary ?? "no answer",
      );
      if (broken.announcesClose || unknown?.announcesClose === true) return "the connection was closed as announced";
      must(
        unknown?.isWhole === true && unknown.status !== undefined,
        unknown,
        "an answer on the same connection",
        unknown?.summary ?? "no answer",
      );
      const alone = context.answer("retrieve, raw");
      must(
        good?.isWhole === true && good.status === alone.status,
        good,
        `status ${alone.status} on the same connection, as on another`,
        good?.summary ?? "no answer",
      );
      return "three answers on one connection";
    },
  },
];

const orderedFaults: readonly (readonly [step: string, status: number, code: string])[] = [
  ["HTTP-05 DELETE of a path that is not there", 404, "unknown_url"],
  ["HTTP-02 DELETE of createChatCompletion", 405, "method_not_allowed"],
  ["HTTP-09 text/plain", 415, "unsupported_media_type"],
  ["HTTP-07 a body of one byte too many", 413, "request_too_large"],
  ["AUTH-11 another method of a path that is not there", 401, "invalid_api_key"],
];

function mustAllow(answer: Answer, method: string): string {
  const methods = (answer.header("allow") ?? "").split(",").map((one) => one.trim());
  const isList = methods.includes(method) && !methods.includes(answer.exchange.request.method);
  must(isList, answer, `Allow: ${method}`, `Allow: ${showHeader(answer, "allow")}`);
  return `405 with Allow: ${methods.join(", ")}`;
}

function mustBeEdge(answer: Answer, { statuses, mayBeRead }: Unreadable): string {
  if (mayBeRead === true && answer.status !== undefined && !(String(answer.status) in edgeStatuses))
    return `${answer.name}: read as HTTP, and answered with ${answer.status}`;
  const wanted = `one of ${statuses.join(", ")} with the envelope`;
  must(answer.status !== undefined && statuses.includes(answer.status), answer, wanted, answer.summary);
  const code = edgeStatuses[String(answer.status)]?.code;
  must(valueAt(answer.json, "/error/code") === code, answer, `error.code "${code}"`, answer.summary);
  must(valueAt(answer.json, "/error/param") === null, answer, "error.param null", answer.summary);
  return `${answer.name}: ${answer.status} ${code}`;
}

export const http: TestGroup = {
  steps: [...plans.steps, ...steps, ...browserSteps, ...slowSteps],
  checks: [...plans.checks, ...checks, ...browserChecks, ...slowChecks, ...everyAnswerChecks, ...acceptedChecks],
};
