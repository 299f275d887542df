import { checkOf } from "../../judge/check.ts";
import { combinedChecks } from "../../requests/combined-request.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show, showHeader } from "../../judge/finding.ts";
import { valueAt, isCompletion, mustRefuse, textAt } from "../../judge/read.ts";
import { unknownKey } from "../../requests/keys.ts";
import type { Answer } from "../../wire/answer.ts";
import { accepted, plans, steps, unauthorizedOnly } from "./requests.ts";

const unauthorized = (context: Context): readonly Answer[] => {
  const answers = context.all.filter(({ status }) => status === 401);
  return answers.length > 1 ? answers : cannot("no request was answered with 401");
};

const fromKeys = ["AUTH-01 no Authorization", "AUTH-02 an unknown key", "AUTH-04 Basic"];

const checks: readonly Check[] = [
  checkOf(
    "AUTH-03",
    "Asks with an expired and a disabled key, and compares the answers with that to an unknown one.",
    ["expired and disabled", "AUTH-02 an unknown key"],
    (context) => {
      const trace = (answer: Answer): string =>
        `status ${answer.status}, the error ${show(valueAt(answer.json, "/error"))} and ${showHeader(answer, "www-authenticate")}`;
      const unknown = context.answer("AUTH-02 an unknown key");
      if (unknown.status !== 401) cannot("an unknown key is not refused with 401");
      for (const answer of context.answers("expired and disabled"))
        must(trace(answer) === trace(unknown), answer, trace(unknown), trace(answer));
      return trace(unknown);
    },
  ),
  {
    clause: "AUTH-08",
    how: "Reads WWW-Authenticate of every 401 of the run.",
    uses: fromKeys,
    judge: (context) => {
      const answers = unauthorized(context);
      for (const answer of answers)
        must(
          answer.header("www-authenticate") === "Bearer",
          answer,
          "the header WWW-Authenticate: Bearer",
          showHeader(answer, "www-authenticate"),
        );
      return `${answers.length} answers`;
    },
  },
  {
    clause: "AUTH-09",
    how: "Reads the message of every 401 of the run, and compares those to bearer tokens.",
    uses: [...fromKeys, "a wrong key before its body", "Expect with a wrong key"],
    judge: (context) => {
      const answers = unauthorized(context);
      const [first] = answers.filter(sendsToken).map((answer) => textAt(answer.json, "/error/message"));
      for (const answer of answers) {
        const message = textAt(answer.json, "/error/message") ?? "";
        must(
          message.startsWith("Incorrect API key provided"),
          answer,
          'a message that begins "Incorrect API key provided"',
          `the message ${show(message)}`,
        );
        must(
          !sendsToken(answer) || message === first,
          answer,
          `the message ${show(first)}, as for another wrong key`,
          `the message ${show(message)}`,
        );
      }
      return `${answers.length} answers: ${first}`;
    },
  },
  {
    clause: "AUTH-15",
    how: "Compares the message for no Authorization with that for an unknown key.",
    uses: fromKeys,
    judge: (context) => {
      const [none, unknown] = fromKeys.map((step) => textAt(context.answer(step).json, "/error/message") ?? "");
      const isSaid = none !== unknown && none?.includes("Bearer") === true;
      must(
        isSaid,
        context.answer("AUTH-01 no Authorization"),
        "a message that no key was sent, and how to send one",
        `the message ${show(none)}`,
      );
      return show(none);
    },
  },
  {
    clause: "AUTH-10",
    how: "Searches every byte of every answer for a fragment of a key: eight letters, or four of the key that does not exist.",
    uses: [...fromKeys, "plain"],
    judge: (context) => {
      const leaky = context.all.find(({ exchange }) => exchange.leaks.length > 0);
      must(leaky === undefined, leaky, "no part of a key", `a part of: ${leaky?.exchange.leaks.join(", ")}`);
      for (const answer of unauthorized(context)) {
        const message = textAt(answer.json, "/error/message") ?? answer.text;
        const piece = piecesOf(unknownKey).find((one) => message.includes(one));
        must(
          piece === undefined,
          answer,
          "no part of the key that was sent",
          `the message ${show(message)} with "${piece}"`,
        );
      }
      return `nothing in ${context.all.length} answers`;
    },
  },
  {
    clause: "AUTH-12",
    how: "Sends the head of a request with an unknown key, holds its body back, and expects the answer all the same.",
    uses: ["a wrong key before its body"],
    judge: (context) => mustRefuse(context.answer("a wrong key before its body"), unauthorizedOnly),
  },
  {
    clause: "AUTH-13",
    how: "Sends an impossible Expect with an unknown key; an exhaustive run sends it with the valid key as well.",
    uses: ["Expect with a wrong key", "Expect with the key", "plain"],
    cases: (context) => ({ tried: context.wasSent("Expect with the key") ? 2 : 1, of: 2 }),
    judge: (context) => {
      const seen = mustRefuse(context.answer("Expect with a wrong key"), unauthorizedOnly);
      if (!isCompletion(context.answer("plain"))) cannot("nothing was accepted, so a refusal shows nothing");
      if (!context.wasSent("Expect with the key")) return seen;
      const known = context.answer("Expect with the key");
      must(known.status !== 401, known, "another answer than 401 to a good key", known.summary);
      return `401 to an unknown key, ${known.status} to a good one`;
    },
  },
  {
    clause: "AUTH-14",
    how: "Sends each operation that the service has without a valid key.",
    uses: [...fromKeys, "Basic for a record", "retrieve, raw"],
    judge: (context) => {
      const isThere = context.answer("retrieve, raw").status === 200;
      const steps = [...fromKeys.slice(0, 2), ...(isThere ? ["Basic for a record"] : [])];
      const seen = steps.map((step) => mustRefuse(context.answer(step), unauthorizedOnly));
      return context.answer("models").status === 200 ? seen.join("; ") : "";
    },
  },
];

/** Returns whether a request has one Authorization header with one bearer token. */
function sendsToken({ exchange }: Answer): boolean {
  const [value = "", ...others] = exchange.request.headers
    .filter(([name]) => name.toLowerCase() === "authorization")
    .map(([, text]) => text);
  return others.length === 0 && /^bearer +[!-~]+$/i.test(value);
}

function piecesOf(key: string): string[] {
  return Array.from({ length: key.length - 6 }, (_, index) => key.slice(index + 3, index + 7)).filter(
    (piece) => piece.length === 4,
  );
}

export const auth: TestGroup = {
  steps: [...plans.steps, ...steps],
  checks: [...plans.checks, ...checks, ...combinedChecks("lower bounds and extras", accepted)],
};
