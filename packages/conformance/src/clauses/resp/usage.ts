import { clauseOf } from "../../contract/contract.ts";
import { randomUUID } from "node:crypto";
import { decimalSum } from "@parley/contract/decimal";
import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { exactCost } from "../../judge/exact-cost.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  valueAt,
  completionOf,
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
import { chat, say } from "../../requests/chat-request.ts";
import { needsKey } from "../../requests/keys.ts";
import { modelObjectFor } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { answeredSteps as uses } from "./requests.ts";

/** A check of the usage of every answer, streams included. */
const checkUsage = (
  clause: string,
  how: string,
  faultOf: (usage: unknown, answer: Answer, context: Context) => string | undefined,
): Check => {
  const judge = (context: Context): string => {
    completionOf(context.answer("plain"));
    const counted = context.all.filter((answer) => isCompletion(answer) && isRecord(usageOf(answer)));
    must(
      counted.includes(context.answer("plain")),
      context.answer("plain"),
      "an answer with usage",
      context.answer("plain").summary,
    );
    for (const answer of counted) {
      const fault = faultOf(usageOf(answer), answer, context);
      must(fault === undefined, answer, clauseOf.get(clause)?.sentence ?? "", fault ?? "");
    }
    return `${counted.length} answers`;
  };
  return { clause, how, uses, judge };
};

/** A missing count is judged by the schema (RESP-02), not here. */
const usedAtMost = (part: string, whole: string) => (usage: unknown, answer: Answer) => {
  if (valueAt(usage, part) === undefined)
    return answer.name.startsWith("plain") ? cannot(`no ${part} is counted`) : undefined;
  const [used, all] = [numberAt(usage, part), numberAt(usage, whole)];
  return used >= 0 && used <= all
    ? undefined
    : `${part} ${show(valueAt(usage, part))}, ${whole} ${show(valueAt(usage, whole))}`;
};

/** Longer than the blocks in which engines cache prompts. */
const repeats = 60;

const cachedIn = (answer: Answer): number => {
  completionOf(answer);
  return numberAt(usageOf(answer), "/prompt_tokens_details/cached_tokens");
};

/** It runs after the requests that use up the concurrency of the second key. */
export const cachedPromptStep: Step = {
  name: "one prompt of two keys",
  needs: ["models"],
  isValid: true,
  when: "last",
  requests: (context) => {
    needsKey(context, "concurrency");
    const members = { ...say(`${randomUUID()} ${"Count the words. ".repeat(repeats)}`), max_completion_tokens: 1 };
    const [mine, theirs] = [chat(context, members), chat(context, members, { key: "concurrency" })];
    return [mine, mine, theirs];
  },
};

const cachedPromptCheck: Check = {
  clause: "RESP-24",
  how: "Sends one long prompt twice with one key, and then with another key.",
  uses: [cachedPromptStep.name],
  judge: (context) => {
    const [, again, theirs] = context.answers(cachedPromptStep.name);
    if (!again || !theirs) cannot("not answered");
    const [own, others] = [cachedIn(again), cachedIn(theirs)];
    must(others === 0, theirs, "0 cached tokens for the other key", `${others} cached tokens`);
    return `${own} cached tokens for the same key, 0 for the other`;
  },
};

const cachedPriceCheck: Check = {
  clause: "RESP-26",
  how: "Sends one long prompt twice, and expects the listed price for the tokens that were cached.",
  uses: [cachedPromptStep.name],
  judge: (context) => {
    const [, again] = context.answers(cachedPromptStep.name);
    if (!again) cannot("not answered");
    const model = modelObjectFor(context, sentBody(again)["model"]);
    if (textAt(model, "/pricing/input_cache_read") === undefined) return "the model lists no price of cached tokens";
    const cached = cachedIn(again);
    if (!(cached > 0)) cannot("no tokens were cached");
    const [prompt, completion] = [tokensOf(again, "prompt_tokens"), tokensOf(again, "completion_tokens")];
    const wanted = exactCost(model, { prompt, cached, completion });
    const cost = textAt(usageOf(again), "/cost_usd") ?? "";
    const isExact = /^[0-9]+(\.[0-9]+)?$/.test(cost) && decimalSum(cost) === wanted;
    must(isExact, again, `cost_usd ${wanted} with ${cached} cached tokens`, `cost_usd ${show(cost)}`);
    return `${cached} cached tokens at their own price`;
  },
};

export const usageChecks: readonly Check[] = [
  checkUsage("RESP-11", "Adds the counts.", (usage) => {
    const [prompt, completion, total] = ["prompt", "completion", "total"].map((name) =>
      numberAt(usage, `/${name}_tokens`),
    );
    return total !== undefined && prompt !== undefined && completion !== undefined && prompt + completion === total
      ? undefined
      : show(usage);
  }),
  {
    clause: "RESP-12",
    how: "Compares the count of the prompt for one choice and for several.",
    uses: ["plain", "choices"],
    judge: (context) => {
      const [one, two] = [context.answer("plain"), context.answer("choices")];
      givenCompletion(one);
      completionOf(two);
      const [wanted, found] = [tokensOf(one, "prompt_tokens"), tokensOf(two, "prompt_tokens")];
      must(found === wanted, two, `prompt_tokens ${wanted}`, `prompt_tokens ${found}`);
      return `prompt_tokens ${found}, both times`;
    },
  },
  {
    clause: "RESP-13",
    how: "Asks for several choices that all stop at max tokens, and expects that number of tokens for each of them.",
    uses: ["choices"],
    judge: (context) => {
      const answer = context.answer("choices");
      completionOf(answer);
      const count = tokensOf(answer, "completion_tokens");
      const { n, max_completion_tokens: maxTokens } = sentBody(answer);
      const wanted = Number(n) * Number(maxTokens);
      if (listAt(answer.json, "/choices").some((_, index) => finishOf(answer, index) !== "length"))
        cannot("a choice did not stop at its token limit");
      must(
        count === wanted,
        answer,
        `completion_tokens ${wanted} for ${show(n)} choices of ${show(maxTokens)}`,
        `completion_tokens ${count}`,
      );
      return `${show(n)} × ${show(maxTokens)} tokens`;
    },
  },
  checkUsage(
    "RESP-14",
    "Compares cached_tokens with prompt_tokens.",
    usedAtMost("/prompt_tokens_details/cached_tokens", "/prompt_tokens"),
  ),
  checkUsage(
    "RESP-15",
    "Compares reasoning_tokens with completion_tokens.",
    usedAtMost("/completion_tokens_details/reasoning_tokens", "/completion_tokens"),
  ),
  checkUsage(
    "RESP-16",
    "Multiplies the counts with the prices of the model object, as decimals.",
    (usage, answer, context) => {
      const { model: asked } = sentBody(answer);
      const model = modelObjectFor(context, asked);
      const [prompt, completion] = [numberAt(usage, "/prompt_tokens"), numberAt(usage, "/completion_tokens")];
      const cached = numberAt(usage, "/prompt_tokens_details/cached_tokens") || 0;
      if (![prompt, completion, cached].every(Number.isInteger) || cached > prompt) return "no counts";
      const wanted = exactCost(model, { prompt, cached, completion });
      const cost = textAt(usage, "/cost_usd") ?? "";
      const isExact = /^[0-9]+(\.[0-9]+)?$/.test(cost) && decimalSum(cost) === wanted;
      return isExact ? undefined : `cost_usd ${show(valueAt(usage, "/cost_usd"))} instead of ${wanted}`;
    },
  ),
  cachedPromptCheck,
  cachedPriceCheck,
];
