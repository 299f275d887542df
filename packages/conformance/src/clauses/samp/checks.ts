import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must, show } from "../../judge/finding.ts";
import { valueAt, completionOf, contentOf, finishOf, givenCompletion, isCompletion } from "../../judge/read.ts";
import { hasFeature } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { forcedIds, plans, steps, stopText } from "./requests.ts";

function pair(context: Context, first: string, second: string): readonly [Answer, Answer] {
  const [one, other] = [context.answer(first), context.answer(second)];
  givenCompletion(one);
  completionOf(other);
  return [one, other];
}

const sameText = (clause: string, how: string, first: string, second: string): Check => ({
  clause,
  how,
  uses: [first, second],
  judge: (context) => {
    const [one, other] = pair(context, first, second);
    if (contentOf(one) === "") cannot("the answer is empty");
    must(
      contentOf(other) === contentOf(one),
      other,
      `the text ${show(contentOf(one))}`,
      `the text ${show(contentOf(other))}`,
    );
    return show(contentOf(other));
  },
});

/** The answers to values near their bounds, without those that are refused because the engine lacks the parameter. */
function answersNearBounds(context: Context): readonly Answer[] {
  const isLacking = (answer: Answer): boolean => valueAt(answer.json, "/error/code") === "unsupported_parameter";
  const answers = context.answers("values near their bounds").filter((answer) => !isLacking(answer));
  return answers.length > 0 ? answers : doesNotApply("the model follows none of these parameters");
}

/** Demands the greedy answer up to the stop text. */
function mustStop(context: Context, step: string): string {
  const [greedy, stopped] = pair(context, "greedy", step);
  const stop = stopText(context);
  const wanted = contentOf(greedy).slice(0, contentOf(greedy).indexOf(stop));
  must(
    contentOf(stopped) === wanted,
    stopped,
    `the text ${show(wanted)}, which comes before ${show(stop)}`,
    `the text ${show(contentOf(stopped))}`,
  );
  must(finishOf(stopped) === "stop", stopped, 'finish_reason "stop"', `finish_reason ${show(finishOf(stopped))}`);
  return `${show(wanted)} before ${show(stop)}`;
}

const checks: readonly Check[] = [
  sameText("SAMP-01", "Asks twice at temperature 0.", "greedy", "greedy again"),
  checkOf(
    "SAMP-02",
    "Asks twice with one seed at temperature 2, while other seeds give other texts.",
    ["seeded", "seeded again", "seeded otherwise"],
    (context) => {
      const [one, other] = pair(context, "seeded", "seeded again");
      must(
        contentOf(other) === contentOf(one),
        other,
        `the text ${show(contentOf(one))}`,
        `the text ${show(contentOf(other))}`,
      );
      const texts = new Set(context.answers("seeded otherwise").map((answer) => contentOf(answer)));
      return texts.size > 1
        ? show(contentOf(one))
        : cannot("every seed gives one text, so that this one shows nothing");
    },
  ),
  checkOf(
    "SAMP-03",
    "Sends a smaller and a larger max_completion_tokens at temperature 0.",
    ["greedy", "smaller max tokens"],
    (context) => {
      const [large, small] = pair(context, "greedy", "smaller max tokens");
      if (contentOf(small) === "") cannot("the shorter answer is empty");
      must(
        contentOf(large).startsWith(contentOf(small)),
        small,
        `a beginning of ${show(contentOf(large))}`,
        `the text ${show(contentOf(small))}`,
      );
      return `${show(contentOf(small))} begins ${show(contentOf(large))}`;
    },
  ),
  checkOf("SAMP-04", "Stops at a text from the middle of the greedy answer.", ["greedy", "a stop"], (context) =>
    mustStop(context, "a stop"),
  ),
  checkOf(
    "SAMP-05",
    "Does so in a stream, and looks for the beginning of the text in every piece.",
    ["greedy", "a stop", "a stop, streamed"],
    (context) => {
      mustStop(context, "a stop, streamed");
      return mustStop(context, "a stop");
    },
  ),
  checkOf(
    "SAMP-06",
    "Gives the stop as a string and as a list.",
    ["greedy", "a stop", "a stop as a string"],
    (context) => {
      const [list, text] = pair(context, "a stop", "a stop as a string");
      must(
        contentOf(text) === contentOf(list) && finishOf(text) === finishOf(list),
        text,
        `the text ${show(contentOf(list))}`,
        `the text ${show(contentOf(text))}`,
      );
      return contentOf(list) === contentOf(context.answer("greedy"))
        ? cannot("no stop was kept at all")
        : show(contentOf(text));
    },
  ),
  checkOf(
    "SAMP-07",
    "Stops at a word of the model's own reasoning.",
    ["longer reasoning", "a stop from the reasoning", "models"],
    (context) => {
      if (!hasFeature(context, "reasoning")) doesNotApply("the model object does not list the feature `reasoning`");
      const [before, after] = [context.answer("longer reasoning"), context.answer("a stop from the reasoning")];
      if (!before || !isCompletion(before)) cannot("the model did not reason");
      completionOf(after);
      const [wanted, found] = [before, after].map((answer) => valueAt(answer.json, "/choices/0/message/reasoning"));
      must(wanted === found, after, `the text ${show(wanted)}`, `the text ${show(found)}`);
      return `${show(found)} was not cut`;
    },
  ),
  checkOf(
    "SAMP-08",
    "Bans all even and then all odd token ids: one of them must change the first token, and the other must not.",
    ["a single token", "even ids banned", "odd ids banned"],
    (context) => {
      const [free, even] = pair(context, "a single token", "even ids banned");
      const [, odd] = pair(context, "a single token", "odd ids banned");
      if (contentOf(free) === "") cannot("the first token shows no text");
      const kept = [even, odd].filter((answer) => contentOf(answer) === contentOf(free));
      const found = `${show(contentOf(even))}, ${show(contentOf(odd))}, unbiased ${show(contentOf(free))}`;
      must(
        kept.length === 1,
        kept[0] ?? even,
        "a text without the banned token and one with the favoured token",
        `the texts ${found}`,
      );
      return found;
    },
  ),
  checkOf("SAMP-09", "Forces several token ids, each in two conversations.", ["a forced id", "plain"], (context) => {
    const answers = context.answers("a forced id");
    const plain = contentOf(context.answer("plain"));
    const seen = forcedIds.flatMap((id, index) => {
      const [one, other] = [answers[2 * index], answers[2 * index + 1]];
      if (!one || !other) return [];
      completionOf(one);
      completionOf(other);
      // If the token limit is not kept, another clause is broken, and one of the texts is merely longer.
      const [less = "", more = ""] = [contentOf(one), contentOf(other)].toSorted((a, b) => a.length - b.length);
      return [{ id, other, less, more, isWritten: less !== "" && !plain.startsWith(contentOf(one)) }];
    });
    if (seen.every(({ less }) => less === "")) cannot("no forced token shows a text");
    const written = seen.find(({ isWritten }) => isWritten);
    must(written !== undefined, answers[0], "another text than without a bias", `the text ${show(seen[0]?.less)}`);
    const { other, less, more, id } = written;
    must(
      more.startsWith(less),
      other,
      `the text ${show(less)}, as in the other conversation`,
      `the text ${show(more)}`,
    );
    return `${show(less)} for the id ${id}, both times`;
  }),
  checkOf("SAMP-10", "Biases ids beyond any vocabulary.", ["greedy", "a foreign id"], (context) => {
    const [greedy, biased] = pair(context, "greedy", "a foreign id");
    must(
      contentOf(biased) === contentOf(greedy),
      biased,
      `the text ${show(contentOf(greedy))}`,
      `the text ${show(contentOf(biased))}`,
    );
    return show(contentOf(biased));
  }),
  sameText("SAMP-12", "Compares top_k 1 with temperature 0.", "greedy", "top_k 1"),
  sameText("SAMP-13", "Compares min_p 1 with temperature 0.", "greedy", "min_p 1"),
  sameText("SAMP-13", "Compares a very small top_p with temperature 0.", "greedy", "a very small top_p"),
  checkOf("SAMP-14", "Asks with values at their bounds and next to them.", ["values near their bounds"], (context) => {
    const answers = answersNearBounds(context);
    for (const answer of answers) completionOf(answer);
    return `${answers.length} answers`;
  }),
  checkOf("SAMP-15", "Searches those answers for special tokens.", ["values near their bounds"], (context) => {
    const answers = answersNearBounds(context).filter((answer) => isCompletion(answer));
    for (const answer of answers) {
      const leaked = /<\|\w+\|>|<\/?(?:think|tool_call|tool_response)>/.exec(contentOf(answer))?.[0];
      must(leaked === undefined, answer, "a text without special tokens", `the special token ${show(leaked)}`);
    }
    return answers.length > 0 ? `${answers.length} answers` : cannot("no such request is answered");
  }),
];

export const samp: TestGroup = { steps: [...plans.steps, ...steps], checks: [...plans.checks, ...checks] };
