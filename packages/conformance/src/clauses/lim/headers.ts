import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show, showHeader } from "../../judge/finding.ts";
import type { Answer } from "../../wire/answer.ts";

const kinds = ["requests", "tokens"] as const;
const names = kinds.flatMap((kind) => ["limit", "remaining", "reset"].map((what) => `x-ratelimit-${what}-${kind}`));
const duration = /^(?:(?:[0-9]+h)?[0-9]+m)?[0-9]+(?:\.[0-9]{1,3})?s$/;

const hasLimits = (answer: Answer): boolean => names.every((name) => answer.header(name) !== undefined);

/** Answers to operations of the contract. */
const contractAnswers = (context: Context): readonly Answer[] => {
  const { basePath } = context.profile;
  return context.all.filter(
    ({ status, exchange }) =>
      status !== undefined &&
      exchange.request.raw === undefined &&
      exchange.request.target.startsWith(`${basePath}/`) &&
      exchange.request.method !== "OPTIONS",
  );
};
const successes = (context: Context): readonly Answer[] =>
  contractAnswers(context).filter(({ status }) => status === 200);
const refusals = (context: Context): readonly Answer[] =>
  contractAnswers(context).filter((answer) => {
    const { status = 0 } = answer;
    return status >= 400 && status < 500 && ![401, 408, 431].includes(status) && hasGoodKey(answer);
  });

/** The request has one bearer token, and it is that of a valid key. */
function hasGoodKey({ exchange: { request } }: Answer): boolean {
  const [value = "", ...others] = request.headers
    .filter(([name]) => name.toLowerCase() === "authorization")
    .map(([, text]) => text);
  const role = /^bearer \{([a-z]+)\}$/i.exec(value)?.[1] ?? "unknown";
  return others.length === 0 && !["unknown", "expired", "disabled"].includes(role);
}

const shown = (context: Context): readonly Answer[] => {
  const found = context.all.filter(hasLimits);
  return found.length > 0 ? found : cannot("no answer has all six headers");
};

const mustShow = (answers: readonly Answer[]): string => {
  for (const answer of answers)
    must(
      hasLimits(answer),
      answer,
      "the six x-ratelimit-* headers",
      `${names.filter((name) => answer.header(name) === undefined).join(", ")} missing`,
    );
  return answers.length > 0 ? `${answers.length} answers` : "";
};

const number = (answer: Answer, what: string, kind: string): number => {
  const text = answer.header(`x-ratelimit-${what}-${kind}`) ?? "";
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
};

const uses = ["models", "plain", "stream"];

export const headerChecks: readonly Check[] = [
  {
    clause: "LIM-01",
    how: "Reads the headers of every success.",
    uses,
    judge: (context) => mustShow(successes(context)),
  },
  {
    clause: "LIM-02",
    how: "Reads the headers of every error to the key.",
    uses: ["MODL-12 an unknown id", "REQ-04 temperature 2.1", "HTTP-05 DELETE of a path that is not there", "plain"],
    judge: (context) => mustShow(refusals(context)),
  },
  {
    clause: "LIM-03",
    how: "Looks for limits on every 401, while successes have them.",
    uses: ["AUTH-01 no Authorization", "AUTH-02 an unknown key", "plain"],
    judge: (context) => {
      const unauthenticated = context.all.filter(({ status }) => status === 401);
      for (const answer of unauthenticated) {
        const odd = answer.allHeaders.find(([name]) => name.startsWith("x-ratelimit-"));
        must(odd === undefined, answer, "no header x-ratelimit-*", `the header ${show(odd)}`);
      }
      shown(context);
      return unauthenticated.length > 0 ? `${unauthenticated.length} answers` : "";
    },
  },
  {
    clause: "LIM-04",
    how: "Compares what remains with the limit.",
    uses,
    judge: (context) => {
      for (const answer of shown(context))
        for (const kind of kinds) {
          const [left, most] = [number(answer, "remaining", kind), number(answer, "limit", kind)];
          must(
            left >= 0 && left <= most,
            answer,
            `0 to ${most} ${kind} left`,
            showHeader(answer, `x-ratelimit-remaining-${kind}`),
          );
        }
      return `${shown(context).length} answers`;
    },
  },
  {
    clause: "LIM-05",
    how: "Reads the resets.",
    uses,
    judge: (context) => {
      for (const answer of shown(context))
        for (const kind of kinds) {
          const reset = answer.header(`x-ratelimit-reset-${kind}`) ?? "";
          must(duration.test(reset), answer, "a duration such as 6m0s", `the duration ${show(reset)}`);
        }
      return `${shown(context).length} answers`;
    },
  },
  {
    clause: "LIM-06",
    how: "Reads the limits that the ordinary key is shown.",
    uses,
    judge: (context) => {
      const answer = context.answer("plain");
      if (!hasLimits(answer)) cannot("the plain answer has no limits");
      for (const kind of kinds)
        must(
          number(answer, "limit", kind) > 0,
          answer,
          "a limit above 0",
          showHeader(answer, `x-ratelimit-limit-${kind}`),
        );
      return kinds.map((kind) => `${number(answer, "limit", kind)} ${kind}`).join(", ");
    },
  },
];
