import { decimalSum } from "@parley/contract/decimal";
import { checkOf } from "../../judge/check.ts";
import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { exactCost } from "../../judge/exact-cost.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { valueAt, chunksOf, givenCompletion, isRecord, numberAt, textAt, usageOf } from "../../judge/read.ts";
import { modelObject } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";

const recordsOf = (context: Context, answer: Answer): readonly Record<string, unknown>[] => {
  const record = context.record(answer.name);
  return (Array.isArray(record) ? record : [record]).filter(isRecord);
};

function oneRecord(context: Context, answer: Answer): Record<string, unknown> {
  const records = recordsOf(context, answer);
  const [first] = records;
  must(first !== undefined && records.length === 1, answer, "one record", `${records.length} records`);
  return first;
}

/** Demands the cost that the counts of a record have by the prices of the model. */
function mustCost(context: Context, answer: Answer, record: Record<string, unknown>): string {
  const wanted = exactCost(modelObject(context), {
    prompt: numberAt(record, "/prompt_tokens"),
    cached: numberAt(record, "/cached_tokens") || 0,
    completion: numberAt(record, "/completion_tokens"),
  });
  const cost = textAt(record, "/cost_usd") ?? "";
  must(
    /^[0-9.]+$/.test(cost) && decimalSum(cost) === wanted,
    answer,
    `cost_usd ${wanted}`,
    `cost_usd ${show(record["cost_usd"])}`,
  );
  return cost;
}

/** The number of words that arrived; each is a token in the scenarios. */
const delivered = (answer: Answer): number =>
  chunksOf(answer).filter((chunk) => (textAt(chunk, "/choices/0/delta/content") ?? "") !== "").length;

export const recordChecks: readonly Check[] = [
  checkOf(
    "OPS-09",
    "Counts the usage records of a completed, an abandoned and a failed request.",
    ["a recorded answer", "a stream the client disconnects from", "an early failure"],
    (context) => {
      const steps = ["a recorded answer", "a stream the client disconnects from", "an early failure"];
      for (const step of steps) oneRecord(context, context.answer(step));
      return `one record for each of ${steps.length} requests`;
    },
  ),
  checkOf(
    "OPS-10",
    "Reads the usage record of a stream that the client disconnected from.",
    ["a stream the client disconnects from"],
    (context) => {
      const answer = context.answer("a stream the client disconnects from");
      const record = oneRecord(context, answer);
      const [prompt, written, seen] = [
        numberAt(record, "/prompt_tokens"),
        numberAt(record, "/completion_tokens"),
        delivered(answer),
      ];
      must(prompt > 0, answer, "the tokens of the prompt", `prompt_tokens ${show(record["prompt_tokens"])}`);
      must(
        written >= seen && written <= seen + 100,
        answer,
        `about ${seen} completion tokens`,
        `completion_tokens ${show(record["completion_tokens"])}`,
      );
      return `${prompt} + ${written} tokens, ${mustCost(context, answer, record)}`;
    },
  ),
  checkOf("OPS-11", "Reads the record of a failure that produced nothing.", ["an early failure"], (context) => {
    const answer = context.answer("an early failure");
    if (answer.status === 200) cannot("the engine did not fail");
    for (const record of recordsOf(context, answer)) {
      const cost = record["cost_usd"] ?? "0";
      must(Number(cost) === 0, answer, "no cost", `cost_usd ${show(cost)}`);
    }
    return "no cost";
  }),
  checkOf(
    "OPS-13",
    "Looks for records of refused requests, while an answered one has its record.",
    ["a recorded refusal", "a recorded answer"],
    (context) => {
      for (const answer of context.answers("a recorded refusal")) {
        const charged = recordsOf(context, answer).find((record) => Number(record["cost_usd"] ?? 0) !== 0);
        must(charged === undefined, answer, "no charge", `the charge ${show(charged)}`);
      }
      return recordsOf(context, context.answer("a recorded answer")).length > 0
        ? "no charge"
        : cannot("not even an answered request is recorded");
    },
  ),
  checkOf(
    "OPS-14",
    "Reads the record of a stream that was cut off because nobody read it.",
    ["a reader that takes nothing"],
    (context) => {
      const answer = context.answer("a reader that takes nothing");
      const record = oneRecord(context, answer);
      must(
        numberAt(record, "/completion_tokens") > 0 && Number(record["cost_usd"]) > 0,
        answer,
        "tokens and a cost",
        `the record ${show(record)}`,
      );
      return mustCost(context, answer, record);
    },
  ),
  checkOf("OPS-15", "Compares the record of an answer with its usage.", ["a recorded answer"], (context) => {
    const answer = context.answer("a recorded answer");
    givenCompletion(answer);
    const record = oneRecord(context, answer);
    for (const name of ["prompt_tokens", "completion_tokens", "cost_usd"])
      must(
        record[name] !== undefined && record[name] === valueAt(usageOf(answer), `/${name}`),
        answer,
        `${name} ${show(valueAt(usageOf(answer), `/${name}`))}`,
        `${name} ${show(record[name])}`,
      );
    return show(record["cost_usd"]);
  }),
  checkOf("OPS-16", "Reads the record of a stream whose engine died.", ["the death of an engine"], (context) => {
    const answer = context.answer("the death of an engine");
    const written = numberAt(oneRecord(context, answer), "/completion_tokens");
    if (delivered(answer) === 0) cannot("nothing had been delivered");
    must(written >= delivered(answer), answer, `at least ${delivered(answer)} tokens`, `${written} tokens`);
    return `${written} tokens, ${delivered(answer)} delivered`;
  }),
  checkOf("OPS-17", "Reads the cost of a stream whose engine died.", ["the death of an engine"], (context) => {
    const answer = context.answer("the death of an engine");
    const { cost_usd: cost } = oneRecord(context, answer);
    if (delivered(answer) === 0) cannot("nothing had been delivered");
    must(cost !== undefined && Number(cost) === 0, answer, "no cost", `cost_usd ${show(cost)}`);
    return "no cost";
  }),
];
