import { limit } from "../../contract/contract.ts";
import type { Check, Step } from "../../judge/check.ts";
import { must, showHeader } from "../../judge/finding.ts";
import { httpRequest } from "../../requests/chat-request.ts";
import { originOf, sentHeader } from "../../requests/client-headers.ts";
import type { Answer } from "../../wire/answer.ts";

const exposed = [
  "x-request-id",
  "x-client-request-id",
  ...["limit", "remaining", "reset"].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-ignored-params",
];

export const browserSteps: readonly Step[] = [
  {
    name: "preflight",
    requests: (context) => [
      httpRequest(context, "OPTIONS", `${context.profile.basePath}/chat/completions`, [
        ["Origin", originOf(context.profile)],
        ["Access-Control-Request-Method", "POST"],
        ["Access-Control-Request-Headers", "authorization,content-type"],
      ]),
    ],
  },
];

const browserAnswers = (answers: readonly Answer[]): Answer[] =>
  answers.filter((answer) => answer.status !== undefined && sentHeader(answer, "origin") !== undefined);
const corsOf = (answer: Answer): string[] =>
  answer.allHeaders.map(([name]) => name).filter((name) => name.startsWith("access-control-"));

export const browserChecks: readonly Check[] = [
  {
    clause: "HTTP-24",
    how: "Sends a preflight without a key from an allowed origin.",
    uses: ["preflight"],
    judge: (context) => {
      const answer = context.answer("preflight");
      const isSuccess = answer.status !== undefined && answer.status >= 200 && answer.status < 300;
      must(isSuccess, answer, "a status of 2xx", answer.summary);
      const allowed = answer.header("access-control-allow-origin");
      const isAllowed = allowed === "*" || allowed === originOf(context.profile);
      must(
        isAllowed,
        answer,
        "Access-Control-Allow-Origin with the origin or *",
        showHeader(answer, "access-control-allow-origin"),
      );
      const methods = answer.header("access-control-allow-methods") ?? "POST";
      must(/\bPOST\b|\*/.test(methods), answer, "POST among Access-Control-Allow-Methods", methods);
      return `${answer.status}, allowed for ${allowed}`;
    },
  },
  {
    clause: "HTTP-33",
    how: "Reads Access-Control-Max-Age of the answer to a preflight.",
    uses: ["preflight"],
    judge: (context) => {
      const answer = context.answer("preflight");
      const seconds = String(limit("preflightCacheSeconds"));
      const given = answer.header("access-control-max-age");
      must(
        given === seconds,
        answer,
        `the header Access-Control-Max-Age: ${seconds}`,
        showHeader(answer, "access-control-max-age"),
      );
      return `${seconds} seconds`;
    },
  },
  {
    clause: "HTTP-25",
    how: "Reads Access-Control-Expose-Headers of an answer to a request with an Origin.",
    uses: ["plain with Origin"],
    judge: (context) => {
      const answer = context.answer("plain with Origin");
      const names = (answer.header("access-control-expose-headers") ?? "")
        .split(",")
        .map((name) => name.trim().toLowerCase());
      const missing = names.includes("*") ? [] : exposed.filter((name) => !names.includes(name));
      must(
        missing.length === 0,
        answer,
        "Access-Control-Expose-Headers with every header that a caller may read",
        `${missing.join(", ")} not among them`,
      );
      return `${names.length} headers exposed`;
    },
  },
  {
    clause: "HTTP-26",
    how: "Searches every answer to a request without an Origin for CORS headers, while one with an Origin has them.",
    uses: ["models", "plain with Origin"],
    judge: (context) => {
      const others = context.all.filter(
        (answer) => answer.status !== undefined && sentHeader(answer, "origin") === undefined,
      );
      const odd = others.find((answer) => corsOf(answer).length > 0);
      must(
        odd === undefined,
        odd,
        "no CORS header without an Origin in the request",
        odd ? corsOf(odd).join(", ") : "",
      );
      const positiveControl = browserAnswers(context.all).some((answer) => corsOf(answer).length > 0);
      return positiveControl && others.length > 0 ? `none in ${others.length} answers` : "";
    },
  },
  {
    clause: "HTTP-27",
    how: "Searches every answer to a request with an Origin for Access-Control-Allow-Credentials.",
    uses: ["plain with Origin", "preflight"],
    judge: (context) => {
      const answers = browserAnswers(context.all);
      const odd = answers.find((answer) => answer.header("access-control-allow-credentials") !== undefined);
      must(
        odd === undefined,
        odd,
        "no header Access-Control-Allow-Credentials",
        showHeader(odd, "access-control-allow-credentials"),
      );
      const positiveControl = answers.filter((answer) => corsOf(answer).length > 0);
      return positiveControl.length > 0 ? `absent in ${positiveControl.length} answers with CORS headers` : "";
    },
  },
];
