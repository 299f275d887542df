import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must, show } from "../../judge/finding.ts";
import {
  valueAt,
  completionOf,
  contentOf,
  finishOf,
  givenCompletion,
  numberAt,
  sentBody,
  tokensOf,
  usageOf,
} from "../../judge/read.ts";
import { hasFeature } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";

export const needsReasoning = (context: Context): void => {
  if (!hasFeature(context, "reasoning")) doesNotApply("the model object does not list the feature `reasoning`");
};

/** Demands that a choice stopped during its reasoning, exactly at the maximum number of tokens. */
export function mustCountReasoning(answer: Answer): string {
  completionOf(answer);
  const maxTokens = Number(sentBody(answer)["max_completion_tokens"]);
  const [all, reasoning] = [
    tokensOf(answer, "completion_tokens"),
    numberAt(usageOf(answer), "/completion_tokens_details/reasoning_tokens"),
  ];
  must(all <= maxTokens, answer, `at most ${maxTokens} tokens in all`, `${all} tokens`);
  must(finishOf(answer) === "length", answer, 'finish_reason "length"', `finish_reason ${show(finishOf(answer))}`);
  if (!(reasoning > 0)) cannot("the model did not reason");
  return `${reasoning} of ${all} tokens are reasoning`;
}

/** The clauses about reasoning. */
export const reasoningChecks: readonly Check[] = [
  {
    clause: "RESP-21",
    how: "Asks with reasoning_effort none.",
    uses: ["reasoning effort none"],
    judge: (context) => {
      const answer = context.answer("reasoning effort none");
      completionOf(answer);
      const [reasoning, count] = [
        valueAt(answer.json, "/choices/0/message/reasoning"),
        valueAt(usageOf(answer), "/completion_tokens_details/reasoning_tokens"),
      ];
      if (reasoning === undefined && count === undefined) cannot("tokens of reasoning are not counted");
      must(
        reasoning === undefined && count === 0,
        answer,
        "no reasoning and no reasoning tokens",
        `the reasoning ${show(reasoning)} and reasoning_tokens ${show(count)}`,
      );
      return "no reasoning";
    },
  },
  {
    clause: "RESP-22",
    how: "Allows a reasoning model one or two tokens.",
    uses: ["reasoning cut off", "models"],
    judge: (context) => {
      needsReasoning(context);
      return mustCountReasoning(context.answer("reasoning cut off"));
    },
  },
  {
    clause: "RESP-23",
    how: "Compares the plain answer with one that names the default effort.",
    uses: ["plain", "the default effort", "models"],
    judge: (context) => {
      needsReasoning(context);
      const [plain, named] = [context.answer("plain"), context.answer("the default effort")];
      givenCompletion(plain);
      completionOf(named);
      must(
        contentOf(named) === contentOf(plain),
        named,
        `the text ${show(contentOf(plain))}`,
        `the text ${show(contentOf(named))}`,
      );
      return show(contentOf(named));
    },
  },
];
