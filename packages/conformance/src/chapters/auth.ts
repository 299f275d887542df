import type { Chapter, Check, Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot, must, show } from "../judge/finding.ts";
import { isCompletion, mustRefuse, textAt } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import type { Header } from "../wire/ask.ts";
import { ask, authorized, chat, modelId } from "./ask.ts";
import { refusals } from "./refusals.ts";

/** A key that nobody has. Its four-letter pieces stand in no ordinary text. */
export const unknownKey = "pk-Zx9Qv7Kj2Wp4Yt6Hb8Rm3Xc5Ng1";

/** Where a clause says that a key is refused, and other clauses how. */
const unauthorizedOnly = { status: 401 };
const refused = { status: 401, code: "invalid_api_key", param: null };
const miracles: Header = ["Expect", "miracles"];
const basic: Header = ["Authorization", "Basic {key}"];
const bearer = (value: string): Header => ["Authorization", `Bearer ${value}`];
const models = ({ profile }: Context): string => `${profile.basePath}/models`;

const plans = refusals([
  {
    clause: "AUTH-01",
    want: refused,
    cases: [
      {
        title: "no Authorization",
        ask: (context) => ask(context, "GET", models(context), []),
        shownBy: "AUTH-06 the key in the query string",
      },
    ],
  },
  {
    clause: "AUTH-02",
    want: refused,
    cases: [
      {
        title: "an unknown key",
        ask: (context) => chat(context, { stream: true }, { headers: [bearer(unknownKey)] }),
        shownBy: "a wrong key before its body",
      },
      { title: "a key with a letter more", ask: (context) => ask(context, "GET", models(context), [bearer("{key}x")]) },
    ],
  },
  {
    clause: "AUTH-04",
    want: refused,
    cases: [
      {
        title: "Basic",
        ask: (context) => ask(context, "GET", models(context), [basic]),
        shownBy: "Basic for a record",
      },
      { title: "no scheme", ask: (context) => ask(context, "GET", models(context), [["Authorization", "{key}"]]) },
      {
        title: "a scheme alone",
        ask: (context) => ask(context, "GET", models(context), [["Authorization", "Bearer"]]),
      },
      { title: "two words", ask: (context) => ask(context, "GET", models(context), [bearer("{key} {key}")]) },
    ],
  },
  {
    clause: "AUTH-05",
    want: refused,
    cases: [
      {
        title: "two headers, one of them right",
        ask: (context) => ask(context, "GET", models(context), [bearer("{key}"), bearer(unknownKey)]),
      },
      {
        title: "the right one twice",
        ask: (context) => ask(context, "GET", models(context), [bearer("{key}"), bearer("{key}")]),
      },
    ],
  },
  {
    clause: "AUTH-06",
    want: unauthorizedOnly,
    cases: [
      {
        title: "the key in the query string",
        ask: (context) =>
          ask(
            context,
            "GET",
            `${models(context)}?api_key={key}&key={key}&access_token={key}&token={key}&authorization=Bearer%20{key}`,
            [],
          ),
      },
    ],
  },
  {
    clause: "AUTH-11",
    want: unauthorizedOnly,
    cases: [
      {
        title: "another method of a path that is not there",
        ask: (context) =>
          ask(context, "DELETE", `${context.profile.basePath}/conformance-nothing`, [bearer(unknownKey)]),
        shownBy: "a wrong key among other faults",
      },
      {
        title: "another method of the listing",
        ask: (context) => ask(context, "PUT", models(context), [bearer(unknownKey)]),
      },
    ],
  },
]);

const steps: readonly Step[] = [
  {
    name: "Basic for a record",
    needs: ["models"],
    asks: (context) => [ask(context, "GET", `${models(context)}/${modelId(context)}`, [basic])],
  },
  {
    name: "a wrong key before its body",
    needs: ["models"],
    asks: (context) => [
      chat(
        context,
        { stream: true },
        { headers: [bearer(unknownKey)], manner: { holdBackBytes: 40, deadlineMs: 8000 } },
      ),
    ],
  },
  {
    name: "a wrong key among other faults",
    asks: (context) => [
      ask(context, "DELETE", `${context.profile.basePath}/conformance-nothing`, [bearer(unknownKey), miracles]),
    ],
  },
  {
    name: "Expect with a wrong key",
    needs: ["a wrong key among other faults"],
    shownBy: (context) => {
      mustRefuse(context.answer("a wrong key among other faults"), unauthorizedOnly);
      return "a wrong key among other faults";
    },
    asks: (context) => [ask(context, "GET", models(context), [bearer(unknownKey), miracles])],
  },
  {
    name: "Expect with the key",
    asks: (context) =>
      context.profile.isThorough
        ? [ask(context, "GET", models(context), [authorized, miracles])]
        : cannot("left out of a short run"),
  },
];

const unauthorized = (context: Context): readonly Answer[] => {
  const answers = context.all.filter(({ status }) => status === 401);
  return answers.length > 1 ? answers : cannot("no request was answered with 401");
};

const fromKeys = ["AUTH-01 no Authorization", "AUTH-02 an unknown key", "AUTH-04 Basic"];

const checks: readonly Check[] = [
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
          "WWW-Authenticate: Bearer",
          show(answer.header("www-authenticate")),
        );
      return `${answers.length} answers`;
    },
  },
  {
    clause: "AUTH-09",
    how: "Compares the message of every 401 of the run.",
    uses: fromKeys,
    judge: (context) => {
      const answers = unauthorized(context);
      const [first] = answers.map((answer) => textAt(answer.json, "/error/message"));
      for (const answer of answers) {
        const message = textAt(answer.json, "/error/message") ?? "";
        must(
          message.startsWith("Incorrect API key provided"),
          answer,
          'a message that begins "Incorrect API key provided"',
          show(message),
        );
        must(message === first, answer, show(first), show(message));
      }
      return `${answers.length} answers: ${first}`;
    },
  },
  {
    clause: "AUTH-10",
    how: "Searches every byte of every answer for a piece of a key, of eight letters or, of a key that nobody has, of four.",
    uses: [...fromKeys, "plain"],
    judge: (context) => {
      const leaky = context.all.find(({ exchange }) => exchange.leaks.length > 0);
      must(leaky === undefined, leaky, "no part of a key", `a part of: ${leaky?.exchange.leaks.join(", ")}`);
      for (const answer of unauthorized(context)) {
        const message = textAt(answer.json, "/error/message") ?? answer.text;
        const piece = piecesOf(unknownKey).find((one) => message.includes(one));
        must(piece === undefined, answer, "no part of the key that was sent", `"${piece}" in ${show(message)}`);
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
    how: "Sends an Expect that nobody can meet with an unknown key; a thorough run also with the good one.",
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
    how: "Sends each operation without a valid key, those that the service does not have aside.",
    uses: [...fromKeys, "Basic for a record", "retrieve, raw"],
    judge: (context) => {
      const isThere = context.answer("retrieve, raw").status === 200;
      const steps = [...fromKeys.slice(0, 2), ...(isThere ? ["Basic for a record"] : [])];
      const seen = steps.map((step) => mustRefuse(context.answer(step), unauthorizedOnly));
      return context.answer("models").status === 200 ? seen.join("; ") : "";
    },
  },
];

function piecesOf(key: string): string[] {
  return Array.from({ length: key.length - 6 }, (_, index) => key.slice(index + 3, index + 7)).filter(
    (piece) => piece.length === 4,
  );
}

export const auth: Chapter = { steps: [...plans.steps, ...steps], checks: [...plans.checks, ...checks] };
