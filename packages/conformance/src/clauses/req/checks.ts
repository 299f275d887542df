import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { mustStopAtMaxTokens } from "../../judge/max-tokens.ts";
import { mustNameIgnored } from "../../judge/ignored-params.ts";
import {
  valueAt,
  completionOf,
  finishOf,
  givenCompletion,
  isCompletion,
  listAt,
  mustRefuse,
} from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import { acceptedChecks, optionalMembers } from "./accepted.ts";
import { plans, steps } from "./requests.ts";

/** Requests with members that have an effect; one of them has others, too. */
const withEffect = ["upper bounds", "lower bounds and extras", "nulls and roles", "plain"];

const checks: readonly Check[] = [
  checkOf(
    "REQ-25",
    "Sends max_completion_tokens and a larger max_tokens: the answer stops at the first.",
    ["both max tokens"],
    (context) => mustStopAtMaxTokens(context.answer("both max tokens")),
  ),
  checkOf("REQ-26", "Sends `max_tokens` alone: the answer stops there.", ["max_tokens alone"], (context) =>
    mustStopAtMaxTokens(context.answer("max_tokens alone")),
  ),
  {
    clause: "REQ-20",
    how: "Sends further values of x-strict-params with an unknown member, and expects them to have no effect.",
    uses: ["other values of x-strict-params", "nulls and roles"],
    cases: ({ profile }) => ({ tried: profile.isExhaustive ? 4 : 0, of: 4 }),
    judge: (context) => {
      if (!context.has("other values of x-strict-params")) return "the value yes";
      const answers = context.answers("other values of x-strict-params");
      for (const answer of answers) completionOf(answer);
      return `${answers.length} values without effect`;
    },
  },
  {
    clause: "REQ-32",
    how: "Sends metadata whose name and value have the greatest length in characters beyond the basic plane.",
    uses: ["upper bounds"],
    judge: (context) => {
      const answer = context.answer("upper bounds");
      if (isCompletion(answer)) return "64 and 512 characters of four bytes each were accepted";
      const param = valueAt(answer.json, "/error/param");
      if (typeof param !== "string" || !param.startsWith("metadata"))
        cannot(`refused for another reason: ${answer.summary}`);
      return mustRefuse(answer, { status: 200, code: "" });
    },
  },
  {
    clause: "REQ-30",
    how: "Compares the members of an answer with user and metadata with those of one without.",
    uses: ["plain", "upper bounds"],
    judge: (context) => {
      const [without, given] = [context.answer("plain"), context.answer("upper bounds")];
      givenCompletion(without);
      givenCompletion(given);
      const shape = (answer: Answer): string => Object.keys(Object(answer.json)).toSorted().join();
      // Log-probabilities were asked for in one of them only.
      const inner = (answer: Answer): string =>
        Object.keys(Object(valueAt(answer.json, "/choices/0")))
          .filter((name) => name !== "logprobs")
          .toSorted()
          .join();
      must(shape(given) === shape(without), given, `the members ${shape(without)}`, `the members ${shape(given)}`);
      must(inner(given) === inner(without), given, `choices with ${inner(without)}`, `choices with ${inner(given)}`);
      return `both have ${shape(given)}`;
    },
  },
  {
    clause: "REQ-18",
    how: "Sends every member that has an effect, and none is named in x-ignored-params.",
    uses: withEffect,
    judge: (context) => {
      const answers = withEffect.map((step) => context.answer(step)).filter(isCompletion);
      for (const answer of answers) {
        const named = answer.header("x-ignored-params")?.split(",") ?? [];
        const odd = named.find(
          (name) => answer.name !== "lower bounds and extras" || Object.hasOwn(optionalMembers, name),
        );
        must(
          odd === undefined,
          answer,
          "no member that has an effect in x-ignored-params",
          `x-ignored-params: ${named.join(",")}`,
        );
      }
      return answers.length > 0 && listAt(answers[0]?.json, "/choices").length > 0
        ? `none in ${answers.length} answers`
        : "";
    },
  },
  checkOf(
    "REQ-34",
    "Asks for a hundred million tokens, and expects an answer.",
    ["a maximum above the model's"],
    (context) => {
      const answer = context.answer("a maximum above the model's");
      completionOf(answer);
      return `answered with ${show(finishOf(answer))}`;
    },
  ),
  loweredCheck("Asks for a hundred million tokens", "a maximum above the model's", "max_tokens"),
  loweredCheck("Asks for more than the context leaves", "a maximum beyond the context", "max_completion_tokens"),
  checkOf("REQ-36", "Sends the reasoning effort max.", ["the highest effort"], (context) => {
    completionOf(context.answer("the highest effort"));
    return "accepted";
  }),
  checkOf("REQ-28", "Sends both ends of the seed.", ["ends of the seed"], (context) => {
    for (const answer of context.answers("ends of the seed")) completionOf(answer);
    return "both were accepted";
  }),
];

/** A request whose maximum is lowered, and the member that has to be named. */
function loweredCheck(how: string, step: string, member: string): Check {
  return checkOf("REQ-35", `${how}, and expects the member named.`, [step], (context) => {
    const answer = context.answer(step);
    givenCompletion(answer);
    return mustNameIgnored(answer, member);
  });
}

export const req: TestGroup = {
  steps: [...plans.steps, ...steps],
  checks: [...plans.checks, ...checks, ...acceptedChecks],
};
