import { acceptedMembers } from "./members-accepted.ts";
import type { Chapter, Check } from "../judge/check.ts";
import { cannot, must, show } from "../judge/finding.ts";
import {
  at,
  completionOf,
  finishOf,
  givenCompletion,
  isCompletion,
  listAt,
  mustRefuse,
  tokensOf,
} from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import { plans, steps } from "./members-requests.ts";

/** That a choice was cut at its cap, or ended by itself below it. */
function mustKeepCap(answer: Answer, cap: number): string {
  completionOf(answer);
  const count = tokensOf(answer, "completion_tokens");
  must(count <= cap, answer, `at most ${cap} tokens`, `${count}`);
  if (finishOf(answer) !== "length")
    cannot(`the model ended by itself after ${count} tokens, so the cap of ${cap} decided nothing`);
  must(count === cap, answer, `${cap} tokens, since it finished with length`, `${count}`);
  return `cut at ${count} tokens`;
}

const checks: readonly Check[] = [
  {
    clause: "REQ-25",
    how: "Asks with two different caps: the answer is cut at the first of them.",
    uses: ["both caps"],
    judge: (context) => mustKeepCap(context.answer("both caps"), 2),
  },
  {
    clause: "REQ-26",
    how: "Asks with the older cap alone: the answer is cut there.",
    uses: ["the older cap"],
    judge: (context) => mustKeepCap(context.answer("the older cap"), 3),
    interop: (context) => mustKeepCap(context.answer("the older cap"), 3),
  },
  {
    clause: "REQ-32",
    how: "Sends metadata whose name and value have the greatest length in characters beyond the basic plane.",
    uses: ["upper bounds"],
    judge: (context) => {
      const answer = context.answer("upper bounds");
      if (isCompletion(answer)) return "64 and 512 characters of four bytes each were accepted";
      const param = at(answer.json, "/error/param");
      if (typeof param !== "string" || !param.startsWith("metadata"))
        cannot(`refused for another reason: ${answer.summary}`);
      return mustRefuse(answer, { status: 200, code: "" });
    },
  },
  {
    clause: "REQ-07",
    how: "Sends `n` as 1.0 and the cap as 1e0.",
    uses: ["lower bounds"],
    judge: (context) => {
      const answer = context.answer("lower bounds");
      if (!isCompletion(answer) && !/^(?:n|max_completion_tokens)$/.test(String(at(answer.json, "/error/param"))))
        cannot(`refused for another reason: ${answer.summary}`);
      completionOf(answer);
      return "accepted";
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
        Object.keys(Object(at(answer.json, "/choices/0")))
          .filter((name) => name !== "logprobs")
          .toSorted()
          .join();
      must(shape(given) === shape(without), given, shape(without), shape(given));
      must(inner(given) === inner(without), given, inner(without), inner(given));
      return `both have ${shape(given)}`;
    },
  },
  {
    clause: "REQ-18",
    how: "Sends every member that has an effect, and none is named in x-ignored-params.",
    uses: ["upper bounds", "lower bounds", "roles", "plain"],
    judge: (context) => {
      const answers = ["upper bounds", "lower bounds", "roles", "plain"]
        .map((step) => context.answer(step))
        .filter(isCompletion);
      for (const answer of answers)
        must(
          answer.header("x-ignored-params") === undefined,
          answer,
          "no x-ignored-params",
          show(answer.header("x-ignored-params")),
        );
      return answers.length > 0 && listAt(answers[0]?.json, "/choices").length > 0
        ? `absent in ${answers.length} answers`
        : "";
    },
  },
];

export const members: Chapter = {
  steps: [...plans.steps, ...steps, ...acceptedMembers.steps],
  checks: [...plans.checks, ...checks, ...acceptedMembers.checks],
};
