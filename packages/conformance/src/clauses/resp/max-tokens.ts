import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  valueAt,
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

/** The maximum number of tokens for the answer to a request: its own limit, or what the context window leaves. */
function maxTokensOf(answer: Answer, context: Context): number {
  const { max_completion_tokens: newer, max_tokens: older } = sentBody(answer);
  const asked = [newer, older].find((one) => typeof one === "number");
  const left = lengthOr(context, Number.POSITIVE_INFINITY) - tokensOf(answer, "prompt_tokens");
  return Math.min(typeof asked === "number" ? asked : Number.POSITIVE_INFINITY, left);
}

/** The request is JSON, and its maximum is a number or absent. Another clause is broken if such a request is answered. */
const hasClearMaximum = (answer: Answer): boolean => {
  const { model, max_completion_tokens: newer, max_tokens: older } = sentBody(answer);
  return model !== undefined && [newer, older].every((one) => typeof (one ?? 0) === "number");
};

/** Answers with one choice and with usage. */
export const counted = (context: Context): readonly Answer[] =>
  context.all.filter(
    (answer) =>
      isCompletion(answer) &&
      (sentBody(answer)["n"] ?? 1) === 1 &&
      usageOf(answer) !== undefined &&
      hasClearMaximum(answer),
  );

/** Answers that used fewer tokens than they were allowed. */
export const endedBelowMaxTokens = (context: Context): readonly Answer[] =>
  counted(context).filter((answer) => tokensOf(answer, "completion_tokens") < maxTokensOf(answer, context));

const hasCalls = (answer: Answer): boolean => listAt(answer.json, "/choices/0/message/tool_calls").length > 0;

/**
 * Returns whether the only allowed token is text. Then the model did not end by itself, and only the token limit can have
 * stopped it,
 * unless a stop text or a complete structured output ended the choice.
 */
const isOneWord = (answer: Answer, maxTokens: number): boolean =>
  maxTokens === 1 &&
  !hasCalls(answer) &&
  ["stop", "response_format", "tools"].every((name) => (sentBody(answer)[name] ?? null) === null) &&
  [contentOf(answer), textAt(answer.json, "/choices/0/message/reasoning") ?? ""].some((text) => text.trim() !== "");

/** A choice that stopped at its token limit has to say so: one that is longer under a larger limit, and one of one word. */
function mustSayLength(context: Context): void {
  for (const answer of counted(context)) {
    const isOver = tokensOf(answer, "completion_tokens") === 1 && isOneWord(answer, maxTokensOf(answer, context));
    if (isOver)
      must(
        finishOf(answer) === "length",
        answer,
        'finish_reason "length", since one token was allowed',
        `finish_reason ${show(finishOf(answer))}`,
      );
  }
  mustSayLengthInStream(context);
  const longer = context.answer("plain");
  for (const step of ["both max tokens", "max_tokens alone"].filter((one) => context.wasSent(one))) {
    const shorter = context.answer(step);
    if (!isCompletion(shorter) || !isCompletion(longer)) continue;
    const goesOn = tokensOf(longer, "completion_tokens") > tokensOf(shorter, "completion_tokens");
    if (goesOn)
      must(
        finishOf(shorter) === "length",
        shorter,
        'finish_reason "length", since the answer is longer under a larger limit',
        `finish_reason ${show(finishOf(shorter))}`,
      );
  }
}

/** The stream of the plain question has the same text, so it has reached the same limit. */
function mustSayLengthInStream(context: Context): void {
  if (!context.has("stream") || !context.has("plain")) return;
  const [plain, stream] = [context.answer("plain"), context.answer("stream")];
  const isSame = isCompletion(plain) && isCompletion(stream) && contentOf(plain) === contentOf(stream);
  if (isSame && contentOf(plain) !== "" && finishOf(plain) === "length")
    must(
      finishOf(stream) === "length",
      stream,
      'finish_reason "length", as for the same text in one body',
      `finish_reason ${show(finishOf(stream))}`,
    );
}

export const maxTokensChecks: readonly Check[] = [
  {
    clause: "RESP-09",
    how: "Compares count, token limit and finish of every single choice, and the short answer with the longer one to the same question.",
    uses: ["plain", "short", "both max tokens", "max_tokens alone"],
    judge: (context) => {
      const cut = counted(context).filter((answer) => {
        const [count, maxTokens] = [tokensOf(answer, "completion_tokens"), maxTokensOf(answer, context)];
        must(count <= maxTokens, answer, `at most ${maxTokens} tokens`, `${count} tokens`);
        const isCut = finishOf(answer) === "length";
        if (isCut)
          must(count === maxTokens, answer, `${maxTokens} tokens, since it finished with length`, `${count} tokens`);
        return isCut;
      });
      mustSayLength(context);
      return cut.length > 0
        ? `${cut.length} answers stopped at their token limit`
        : cannot("no answer stopped at its token limit");
    },
  },
  {
    clause: "RESP-10",
    how: "Reads the finish of every choice that used fewer tokens than it was allowed.",
    uses: ["plain", "short"],
    judge: (context) => {
      const ended = endedBelowMaxTokens(context);
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
          `finish_reason ${show(reason)} after ${show(valueAt(usageOf(answer), "/completion_tokens"))} tokens`,
        );
      }
      return `${ended.length} answers ended by themselves`;
    },
  },
];
