import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must, show } from "../../judge/finding.ts";
import {
  valueAt,
  choiceEvents,
  completionOf,
  contentOf,
  finishOf,
  givenCompletion,
  isCompletion,
  isRecord,
  listAt,
  numberAt,
  sentBody,
  textAt,
  tokensOf,
  usageOf,
} from "../../judge/read.ts";
import { hasFeature } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { plans, steps } from "./requests.ts";

const entriesOf = (answer: Answer): readonly unknown[] => listAt(answer.json, "/choices/0/logprobs/content");
const bytesOf = (entries: readonly unknown[]): string =>
  Buffer.from(entries.flatMap((entry) => listAt(entry, "/bytes").map(Number))).toString("latin1");
const bytesOfText = (text: string): string => Buffer.from(text).toString("latin1");

/** The entries of an answer. Another clause checks that there are any. */
function given(context: Context, step: string): readonly unknown[] {
  const answer = context.answer(step);
  completionOf(answer);
  return entriesOf(answer).length > 0 ? entriesOf(answer) : cannot(`"${step}" was answered without entries`);
}

/** The entries of an answer; the clause is broken if there are none. */
function demanded(context: Context, step: string): readonly unknown[] {
  const answer = context.answer(step);
  completionOf(answer);
  const found = valueAt(answer.json, "/choices/0/logprobs");
  must(entriesOf(answer).length > 0, answer, "entries in logprobs.content", `logprobs.content ${show(found)}`);
  return entriesOf(answer);
}

const withEntries = ["log-probabilities", "log-probabilities alone"];

const checks: readonly Check[] = [
  checkOf(
    "LOGP-01",
    "Reads logprobs of every choice that was not asked for them.",
    ["plain", "stream", "log-probabilities"],
    (context) => {
      const others = context.all.filter((answer) => isCompletion(answer) && sentBody(answer)["logprobs"] !== true);
      for (const answer of others) {
        const choices =
          answer.mediaType === "text/event-stream" ? choiceEvents(answer, 0) : listAt(answer.json, "/choices");
        const odd = choices.find((choice) => valueAt(choice, "/logprobs") !== null);
        must(odd === undefined, answer, "logprobs null", `logprobs ${show(odd)}`);
      }
      return others.length > 0 && entriesOf(context.answer("log-probabilities")).length > 0
        ? `null in ${others.length} answers`
        : cannot("this service gives no log-probabilities at all");
    },
  ),
  checkOf("LOGP-02", "Compares the number of entries with the count of the completion.", withEntries, (context) => {
    for (const step of withEntries) {
      const [entries, answer] = [demanded(context, step), context.answer(step)];
      const written =
        tokensOf(answer, "completion_tokens") -
        (numberAt(usageOf(answer), "/completion_tokens_details/reasoning_tokens") || 0);
      // Some engines count the token that ends the text. It has no entry.
      const isRight = entries.length === written || (finishOf(answer) === "stop" && entries.length === written - 1);
      must(isRight, answer, `${written} entries`, `${entries.length} entries`);
    }
    return "one per token";
  }),
  checkOf("LOGP-03", "Joins the bytes of the entries and compares them with the content.", withEntries, (context) => {
    for (const step of withEntries) {
      const [entries, answer] = [given(context, step), context.answer(step)];
      must(
        bytesOf(entries) === bytesOfText(contentOf(answer)),
        answer,
        `the bytes of ${show(contentOf(answer))}`,
        `the bytes of ${show(Buffer.from(bytesOf(entries), "latin1").toString())}`,
      );
    }
    return "the same bytes";
  }),
  checkOf("LOGP-04", "Reads every log-probability.", withEntries, (context) => {
    const all = withEntries.flatMap((step) =>
      given(context, step).flatMap((entry) => [entry, ...listAt(entry, "/top_logprobs")]),
    );
    const odd = all.find((entry) => !(numberAt(entry, "/logprob") <= 0));
    must(
      odd === undefined,
      context.answer("log-probabilities"),
      "log-probabilities of at most 0",
      `the log-probability ${show(odd)}`,
    );
    return `${all.length} numbers`;
  }),
  checkOf("LOGP-05", "Counts the alternatives and reads their order.", ["log-probabilities"], (context) => {
    const entries = given(context, "log-probabilities");
    const answer = context.answer("log-probabilities");
    for (const entry of entries) {
      const top = listAt(entry, "/top_logprobs").map((one) => numberAt(one, "/logprob"));
      must(top.length <= 5, answer, "at most 5 alternatives", `${top.length} alternatives`);
      must(
        top.every((value, index) => index === 0 || value <= (top[index - 1] ?? 0)),
        answer,
        "the most probable alternative first",
        `the alternatives ${show(top)}`,
      );
    }
    return entries.some((entry) => listAt(entry, "/top_logprobs").length > 0)
      ? "sorted"
      : cannot("there were no alternatives");
  }),
  checkOf(
    "LOGP-06",
    "Asks without top_logprobs, and with 0.",
    ["log-probabilities alone", "no alternatives"],
    (context) => {
      for (const step of ["log-probabilities alone", "no alternatives"]) {
        const odd = given(context, step).find(
          (entry) => !Array.isArray(valueAt(entry, "/top_logprobs")) || listAt(entry, "/top_logprobs").length > 0,
        );
        must(
          odd === undefined,
          context.answer(step),
          "top_logprobs that is an empty list",
          `top_logprobs ${show(odd)}`,
        );
      }
      return "empty lists";
    },
  ),
  checkOf(
    "LOGP-08",
    "Compares every token with its alternatives at temperature 0.",
    ["log-probabilities"],
    (context) => {
      const entries = given(context, "log-probabilities");
      for (const entry of entries) {
        const best = Math.max(...listAt(entry, "/top_logprobs").map((one) => numberAt(one, "/logprob")));
        must(
          numberAt(entry, "/logprob") >= best - 1e-6,
          context.answer("log-probabilities"),
          "the token with the highest log-probability",
          `the entry ${show(entry)}`,
        );
      }
      return `${entries.length} tokens`;
    },
  ),
  checkOf(
    "LOGP-09",
    "Compares the entries of every event with its text.",
    ["log-probabilities, streamed"],
    (context) => {
      const answer = context.answer("log-probabilities, streamed");
      completionOf(answer);
      const events = choiceEvents(answer, 0);
      const entries = events.flatMap((choice) => [...listAt(choice, "/logprobs/content")]);
      if (entries.length > 0 && entries.every((entry) => !Array.isArray(valueAt(entry, "/bytes"))))
        cannot("the entries have no bytes, so that nothing can be compared");
      for (const choice of events) {
        const text = textAt(choice, "/delta/content") ?? "";
        const bytes = bytesOf(listAt(choice, "/logprobs/content"));
        must(
          bytes === bytesOfText(text),
          answer,
          `entries for ${show(text)}`,
          `logprobs ${show(valueAt(choice, "/logprobs"))}`,
        );
      }
      return events.some((choice) => isRecord(valueAt(choice, "/logprobs")))
        ? `${events.length} events`
        : cannot("no event had entries");
    },
  ),
  checkOf(
    "LOGP-10",
    "Asks a reasoning model and compares the bytes of the entries with the content alone.",
    ["log-probabilities with reasoning", "log-probabilities", "models"],
    (context) => {
      if (!hasFeature(context, "reasoning")) doesNotApply("the model object does not list the feature `reasoning`");
      const answer = context.answer("log-probabilities with reasoning");
      givenCompletion(answer);
      if (textAt(answer.json, "/choices/0/message/reasoning") === undefined) cannot("the model did not reason");
      if (finishOf(answer) !== "stop") cannot("the reasoning or the text was cut off");
      must(
        bytesOf(entriesOf(answer)) === bytesOfText(contentOf(answer)),
        answer,
        `entries for ${show(contentOf(answer))}`,
        `the entries ${show(entriesOf(answer))}`,
      );
      const empty = entriesOf(answer).find((entry) => listAt(entry, "/bytes").length === 0);
      must(empty === undefined, answer, "no entry for the token that ends the text", `the entry ${show(empty)}`);
      return `${entriesOf(answer).length} entries, none for the reasoning`;
    },
  ),
  checkOf(
    "LOGP-11",
    "Compares the plain answer with one that has log-probabilities.",
    ["plain", "log-probabilities"],
    (context) => {
      const [plain, asked] = [context.answer("plain"), context.answer("log-probabilities")];
      givenCompletion(plain);
      completionOf(asked);
      must(
        contentOf(asked) === contentOf(plain),
        asked,
        `the text ${show(contentOf(plain))}`,
        `the text ${show(contentOf(asked))}`,
      );
      return show(contentOf(asked));
    },
  ),
];

export const logp: TestGroup = { steps: [...plans.steps, ...steps], checks: [...plans.checks, ...checks] };
