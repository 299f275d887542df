import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must } from "../../judge/finding.ts";
import { choiceEvents, chunksOf, givenCompletion, listAt, parse, textAt, tokensOf } from "../../judge/read.ts";
import { chat } from "../../requests/chat-request.ts";
import type { Answer } from "../../wire/answer.ts";

const wholes = "short and long answers";
const streams = "long streams";
const maxTokens = 96;
const minTokens = 16;
/** The generation has to take this long. A shorter time cannot be told from a delay of the network. */
const minGenerationMs = 500;

const exhaustive = (name: string, membersOfAll: readonly object[]): Step => ({
  name,
  needs: ["models"],
  isValid: true,
  requests: (context) => {
    if (!context.profile.isExhaustive) cannot("only an exhaustive run asks for answers that are long enough");
    return membersOfAll.map((members) => chat(context, { ...members }));
  },
});

const long = { max_completion_tokens: maxTokens };

export const arrivalSteps: readonly Step[] = [
  exhaustive(wholes, [{ max_completion_tokens: 1 }, long, { max_completion_tokens: 1 }, long]),
  exhaustive(streams, [
    { ...long, stream: true },
    { ...long, stream: true },
  ]),
];

/**
 * The least time in ms that the engine certainly needs to generate a long answer: even the slowest answer of one token, which
 * has the same prompt and the same delays, is this much faster than the fastest long one.
 */
function generationMs(context: Context): number {
  const answers = context.answers(wholes);
  for (const answer of answers) givenCompletion(answer);
  const times = answers.map(({ exchange }) => exchange.endedMs);
  const of = (place: number): number[] => times.filter((_, index) => index % 2 === place);
  const isLong = answers
    .filter((_, index) => index % 2 === 1)
    .every((one) => tokensOf(one, "completion_tokens") >= minTokens);
  return isLong ? Math.min(...of(1)) - Math.max(...of(0)) : 0;
}

/** Milliseconds between the first and the last text of a stream. */
function spanOf(answer: Answer): number {
  const times = answer.stream.events
    .filter(({ data }) =>
      listAt(parse(data), "/choices").some((choice) => (textAt(choice, "/delta/content") ?? "") !== ""),
    )
    .map(({ atMs }) => atMs);
  return Math.max(...times) - Math.min(...times);
}

export const arrivalCheck: Check = {
  clause: "STRM-44",
  how: `Compares the time between the first and the last text of a stream of up to ${maxTokens} tokens with the time that the engine needs to write it.`,
  uses: [wholes, streams],
  judge: (context) => {
    if (!context.wasSent(wholes)) doesNotApply("only an exhaustive run asks for answers that are long enough");
    const needed = generationMs(context);
    if (needed < minGenerationMs) doesNotApply(`the engine writes too fast to tell: ${Math.round(needed)} ms`);
    const found = context
      .answers(streams)
      .filter((answer) => chunksOf(answer).length > 0 && choiceEvents(answer, 0).length > 2);
    const spans = found.map((answer) => Math.round(spanOf(answer)));
    const isCollected = spans.length > 0 && spans.every((span) => span < needed * 0.1);
    must(
      !isCollected,
      found[0],
      `texts over about ${Math.round(needed)} ms`,
      `all of them within ${spans.join(" and ")} ms`,
    );
    return `texts over ${spans.join(" and ")} ms`;
  },
};
