import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  at,
  contentOf,
  finishOf,
  isCompletion,
  listAt,
  sentBody,
  textAt,
  tokensOf,
  usageOf,
} from "../../judge/read.ts";
import { lengthOr } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";

/** The cap of a request, the context included. */
function capOf(answer: Answer, context: Context): number {
  const { max_completion_tokens: newer, max_tokens: older } = sentBody(answer);
  const asked = [newer, older].find((one) => typeof one === "number");
  const left = lengthOr(context, Number.POSITIVE_INFINITY) - tokensOf(answer, "prompt_tokens");
  return Math.min(typeof asked === "number" ? asked : Number.POSITIVE_INFINITY, left);
}

/** Answers of one choice that were counted. */
export const counted = (context: Context): readonly Answer[] =>
  context.all.filter(
    (answer) => isCompletion(answer) && (sentBody(answer)["n"] ?? 1) === 1 && usageOf(answer) !== undefined,
  );

/** Answers that used less than their cap. */
export const endedBelowCap = (context: Context): readonly Answer[] =>
  counted(context).filter((answer) => tokensOf(answer, "completion_tokens") < capOf(answer, context));

const hasCalls = (answer: Answer): boolean => listAt(answer.json, "/choices/0/message/tool_calls").length > 0;

/**
 * Whether the only token that was allowed is a text: then the model had not ended, and only the cap can have. A stop text,
 * and a form that is complete, end a choice as well.
 */
const isOneWord = (answer: Answer, cap: number): boolean =>
  cap === 1 &&
  !hasCalls(answer) &&
  ["stop", "response_format", "tools"].every((name) => (sentBody(answer)[name] ?? null) === null) &&
  [contentOf(answer), textAt(answer.json, "/choices/0/message/reasoning") ?? ""].some((text) => text.trim() !== "");

/** A choice whose cap ended it has to say so: one that goes on under a larger cap, and one of a single word. */
function mustSayLength(context: Context): void {
  for (const answer of counted(context)) {
    const isOver = tokensOf(answer, "completion_tokens") === 1 && isOneWord(answer, capOf(answer, context));
    if (isOver)
      must(finishOf(answer) === "length", answer, "length, since one token was allowed", show(finishOf(answer)));
  }
  const longer = context.answer("plain");
  for (const step of ["both caps", "the older cap"].filter((one) => context.wasSent(one))) {
    const shorter = context.answer(step);
    if (!isCompletion(shorter) || !isCompletion(longer)) continue;
    const goesOn = tokensOf(longer, "completion_tokens") > tokensOf(shorter, "completion_tokens");
    if (goesOn)
      must(
        finishOf(shorter) === "length",
        shorter,
        "length, since the answer goes on under a larger cap",
        show(finishOf(shorter)),
      );
  }
}

export const maxTokensChecks: readonly Check[] = [
  {
    clause: "RESP-09",
    how: "Compares count, cap and finish of every single choice, and a short cap with the longer answer to the same question.",
    uses: ["plain", "short", "both caps", "the older cap"],
    judge: (context) => {
      const cut = counted(context).filter((answer) => {
        const [count, cap] = [tokensOf(answer, "completion_tokens"), capOf(answer, context)];
        must(count <= cap, answer, `at most ${cap} tokens`, `${count}`);
        const isCut = finishOf(answer) === "length";
        if (isCut) must(count === cap, answer, `${cap} tokens, since it finished with length`, `${count}`);
        return isCut;
      });
      mustSayLength(context);
      return cut.length > 0 ? `${cut.length} answers were cut at their cap` : cannot("no answer was cut at its cap");
    },
  },
  {
    clause: "RESP-10",
    how: "Reads the finish of every choice that used less than its cap.",
    uses: ["plain", "short"],
    judge: (context) => {
      const ended = endedBelowCap(context);
      if (ended.length === 0) cannot("no answer ended by itself");
      for (const answer of ended) {
        const reason = finishOf(answer);
        const wanted = hasCalls(answer) ? "tool_calls" : "stop";
        const isStreamed = answer.mediaType === "text/event-stream";
        const isRight = reason === wanted || (isStreamed && reason === "tool_calls") || reason === "content_filter";
        must(
          isRight,
          answer,
          wanted,
          `${show(reason)} after ${show(at(usageOf(answer), "/completion_tokens"))} tokens`,
        );
      }
      return `${ended.length} answers ended by themselves`;
    },
  },
];
