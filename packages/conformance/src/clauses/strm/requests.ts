import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must } from "../../judge/finding.ts";
import { completionOf, textAt } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { canReason, modelRecord } from "../../requests/listed-model.ts";
import { thinking } from "../../requests/reasoning-request.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { Transcript } from "./transcript.ts";

export const steps: readonly Step[] = [
  {
    name: "stream",
    needs: ["models"],
    isValid: true,
    asks: (context) => [
      chat(
        context,
        { stream: true, stream_options: { include_usage: true }, ...defaultEffort(context) },
        { headers: [["Accept", "application/json"]] },
      ),
    ],
  },
  {
    name: "stream of two choices",
    needs: ["models"],
    isValid: true,
    asks: (context) => [
      chat(context, {
        stream: true,
        n: 2,
        temperature: 1,
        max_completion_tokens: 8,
        ...(canReason(context) && { reasoning_effort: "high" }),
      }),
    ],
  },
  {
    name: "stream without counts",
    needs: ["models", "stream of two choices"],
    isValid: true,
    shownBy: (context) => {
      completionOf(context.answer("stream of two choices"));
      return "stream of two choices";
    },
    asks: (context) => [chat(context, { ...say("Say hello."), stream: true, n: 2, max_completion_tokens: 6 })],
  },
  {
    name: "stream of reasoning",
    needs: ["models", "stream of two choices"],
    isValid: true,
    shownBy: (context) => {
      const answer = context.answer("stream of two choices");
      must(rules.some(isOfReasoning(new Transcript(answer))), answer, "a piece of reasoning", "none");
      return answer.name;
    },
    asks: (context) => thinking(context, { stream: true, reasoning_effort: "high", max_completion_tokens: 12 }),
  },
  {
    name: "a bad stream",
    needs: ["models"],
    asks: (context) => {
      if (!context.profile.isThorough) cannot("left out of a short run; --thorough sends every case");
      return [false, true].map((stream) => chat(context, { temperature: 3, stream }));
    },
  },
];

const isOfReasoning =
  (stream: Transcript) =>
  (rule: Rule): boolean =>
    rule.clause === "STRM-38" && rule.shows(stream);

/** Said aloud it changes nothing (RESP-23), so that the stream can be compared with the plain answer all the same. */
function defaultEffort(context: Context): Members {
  const effort = canReason(context) ? textAt(modelRecord(context), "/default_reasoning_effort") : undefined;
  return effort === undefined ? {} : { reasoning_effort: effort };
}
