import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must } from "../../judge/finding.ts";
import { completionOf, textAt } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { canReason, modelObject } from "../../requests/listed-model.ts";
import { reasoningRequest } from "../../requests/reasoning-request.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { Transcript } from "./transcript.ts";

const twoChoices = { stream: true, n: 2, temperature: 1, max_completion_tokens: 8 };

export const steps: readonly Step[] = [
  {
    name: "stream",
    needs: ["models"],
    isValid: true,
    requests: (context) => [
      chat(
        context,
        { stream: true, stream_options: { include_usage: true }, ...defaultEffort(context) },
        { headers: [["Accept", "application/json"]] },
      ),
    ],
  },
  {
    name: "the highest effort",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, { ...twoChoices, reasoning_effort: "max" })],
  },
  {
    name: "stream of two choices",
    needs: ["models", "the highest effort"],
    isValid: true,
    coveredBy: (context) => {
      completionOf(context.answer("the highest effort"));
      return "the highest effort";
    },
    requests: (context) => [chat(context, { ...twoChoices, ...(canReason(context) && { reasoning_effort: "high" }) })],
  },
  {
    name: "stream without counts",
    needs: ["models", "stream of two choices"],
    isValid: true,
    coveredBy: (context) => {
      const answer = context.answer("stream of two choices");
      completionOf(answer);
      return answer.name;
    },
    requests: (context) => [chat(context, { ...say("Say hello."), stream: true, n: 2, max_completion_tokens: 6 })],
  },
  {
    name: "stream of reasoning",
    needs: ["models", "stream of two choices"],
    isValid: true,
    coveredBy: (context) => {
      const answer = context.answer("stream of two choices");
      must(
        rules.some(isOfReasoning(new Transcript(answer))),
        answer,
        "a piece of reasoning",
        "a stream without reasoning",
      );
      return answer.name;
    },
    requests: (context) =>
      reasoningRequest(context, { stream: true, reasoning_effort: "high", max_completion_tokens: 12 }),
  },
  {
    name: "a bad stream",
    needs: ["models"],
    requests: (context) => {
      if (!context.profile.isExhaustive) cannot("left out of a short run; --exhaustive sends every case");
      return [false, true].map((stream) => chat(context, { temperature: 3, stream }));
    },
  },
];

const isOfReasoning =
  (stream: Transcript) =>
  (rule: Rule): boolean =>
    rule.clause === "STRM-38" && rule.shows(stream);

/** Naming the default effort changes nothing (RESP-23), so that the stream can still be compared with the plain answer. */
function defaultEffort(context: Context): Members {
  const effort = canReason(context) ? textAt(modelObject(context), "/default_reasoning_effort") : undefined;
  return effort === undefined ? {} : { reasoning_effort: effort };
}
