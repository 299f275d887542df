import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must, show } from "../../judge/finding.ts";
import {
  at,
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

export const ifThinks = (context: Context): void => {
  if (!hasFeature(context, "reasoning")) doesNotApply("the record of the model has no feature `reasoning`");
};

/** That a choice was cut while it thought, at the very token that the cap says. */
export function mustCountThoughts(answer: Answer): string {
  completionOf(answer);
  const cap = Number(sentBody(answer)["max_completion_tokens"]);
  const [all, thought] = [
    tokensOf(answer, "completion_tokens"),
    numberAt(usageOf(answer), "/completion_tokens_details/reasoning_tokens"),
  ];
  must(all <= cap, answer, `at most ${cap} tokens in all`, `${all}`);
  must(finishOf(answer) === "length", answer, "length", show(finishOf(answer)));
  if (!(thought > 0)) cannot("the model did not think");
  return `${thought} of ${all} tokens are reasoning`;
}

/** What is said of the thoughts of a model. */
export const reasoningChecks: readonly Check[] = [
  {
    clause: "RESP-21",
    how: "Asks with reasoning_effort none.",
    uses: ["no thinking"],
    judge: (context) => {
      const answer = context.answer("no thinking");
      completionOf(answer);
      const [thought, count] = [
        at(answer.json, "/choices/0/message/reasoning"),
        at(usageOf(answer), "/completion_tokens_details/reasoning_tokens"),
      ];
      if (thought === undefined && count === undefined) cannot("tokens of reasoning are not counted");
      must(
        thought === undefined && count === 0,
        answer,
        "no reasoning and no reasoning tokens",
        `${show(thought)}, ${show(count)} tokens`,
      );
      return "no reasoning";
    },
  },
  {
    clause: "RESP-22",
    how: "Asks a thinking model with a cap of one or two tokens.",
    uses: ["thinking", "models"],
    judge: (context) => {
      ifThinks(context);
      return mustCountThoughts(context.answer("thinking"));
    },
  },
  {
    clause: "RESP-23",
    how: "Compares the plain answer with one that names the default effort.",
    uses: ["plain", "the default effort", "models"],
    judge: (context) => {
      ifThinks(context);
      const [plain, named] = [context.answer("plain"), context.answer("the default effort")];
      givenCompletion(plain);
      completionOf(named);
      must(contentOf(named) === contentOf(plain), named, show(contentOf(plain)), show(contentOf(named)));
      return show(contentOf(named));
    },
  },
];
