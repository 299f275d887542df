import { engineMemberIn, faultsOf } from "../../contract/contract.ts";
import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  valueAt,
  chunksOf,
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
import { modelObjectFor } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { cachedPromptCheck, cachedPromptStep } from "./cached-prompts.ts";
import { maxTokensChecks } from "./max-tokens.ts";
import { reasoningChecks } from "./reasoning.ts";
import { steps } from "./requests.ts";

const wholes = (context: Context): readonly Answer[] =>
  context.all.filter((answer) => isCompletion(answer) && answer.mediaType === "application/json");
const uses = ["plain", "choices", "short", "stream", "reasoning cut off"];

/** A check of every whole answer of the run. */
const checkAnswers = (
  clause: string,
  how: string,
  faultOf: (answer: Answer, context: Context) => string | undefined,
  isInterop = false,
): Check => {
  const judge = (context: Context): string => {
    completionOf(context.answer("plain"));
    for (const answer of wholes(context)) {
      const fault = faultOf(answer, context);
      must(fault === undefined, answer, "an answer that is right", fault ?? "");
    }
    return wholes(context).length > 0 ? `${wholes(context).length} answers` : "";
  };
  return { clause, how, uses: ["plain", "choices", "short"], judge, ...(isInterop && { interop: judge }) };
};

/** A check of the usage of every answer, streams included. */
const checkUsage = (
  clause: string,
  how: string,
  faultOf: (usage: unknown, answer: Answer, context: Context) => string | undefined,
  isInterop = false,
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
      must(fault === undefined, answer, "counts that are right", fault ?? "");
    }
    return `${counted.length} answers`;
  };
  return { clause, how, uses, judge, ...(isInterop && { interop: judge }) };
};

const choicesOf = (answer: Answer): readonly unknown[] => listAt(answer.json, "/choices");
const firstFault = (answer: Answer, faultOf: (choice: unknown) => string | undefined): string | undefined =>
  choicesOf(answer)
    .map(faultOf)
    .find((fault) => fault !== undefined);

/** A missing count is judged by the schema (RESP-02), not here. */
const usedAtMost = (part: string, whole: string) => (usage: unknown, answer: Answer) => {
  if (valueAt(usage, part) === undefined)
    return answer.name.startsWith("plain") ? cannot(`no ${part} is counted`) : undefined;
  const [used, all] = [numberAt(usage, part), numberAt(usage, whole)];
  return used >= 0 && used <= all
    ? undefined
    : `${part} ${show(valueAt(usage, part))}, ${whole} ${show(valueAt(usage, whole))}`;
};

/** Returns whether the request contains the special token: the answer may then repeat it as text. */
const isSpelled = (answer: Answer): boolean => (answer.exchange.request.body ?? "").includes("<think>");

const checks: readonly Check[] = [
  {
    clause: "RESP-01",
    how: "Collects the id of every answer of the run.",
    uses,
    judge: (context) => {
      const ids = new Map<string, Answer>();
      for (const answer of context.all.filter(isCompletion)) {
        const id = textAt(answer.mediaType === "text/event-stream" ? chunksOf(answer)[0] : answer.json, "/id") ?? "";
        must(/^chatcmpl-[!-~]+$/.test(id), answer, "an id that begins with chatcmpl-", show(id));
        must(!ids.has(id), answer, "an id of its own", `${id}, like "${ids.get(id)?.name}"`);
        ids.set(id, answer);
      }
      return ids.size > 1 ? `${ids.size} different ids` : "";
    },
  },
  checkAnswers("RESP-02", "Holds every whole answer to the schema.", ({ json }) => faultsOf("ChatCompletion", json)[0]),
  checkAnswers("RESP-03", "Compares `created` with the header Date, and with the clock.", (answer) => {
    const created = numberAt(answer.json, "/created");
    const { startedAt, endedMs } = answer.exchange;
    const begun = Date.parse(startedAt) / 1000;
    const date = Date.parse(answer.header("date") ?? "") / 1000;
    const isBetween = (first: number, last: number): boolean => created >= first - 3 && created <= last + 3;
    const isNear = isBetween(date - endedMs / 1000, date) || isBetween(begun, begun + endedMs / 1000);
    return Number.isInteger(created) && isNear ? undefined : `created ${show(created)} at ${Math.round(begun)}`;
  }),
  checkAnswers("RESP-04", "Compares the model with the one that was asked for.", (answer, context) => {
    const model = valueAt(answer.json, "/model");
    const { model: asked } = sentBody(answer);
    if (typeof asked !== "string") return undefined;
    const meant = context.has("models") ? modelObjectFor(context, asked) : undefined;
    // MODL-20 judges the answers to names without a vendor prefix.
    if (meant && meant["id"] !== asked && !listAt(meant, "/aliases").includes(asked)) return undefined;
    const body = answer.exchange.request.body ?? "";
    return typeof model === "string" && body.includes(`"model":${JSON.stringify(model)}`) && model === asked
      ? undefined
      : show(model);
  }),
  checkAnswers(
    "RESP-05",
    "Counts the choices and reads their indexes.",
    (answer) => {
      const { n } = sentBody(answer);
      const wanted = typeof n === "number" ? n : 1;
      const indexes = choicesOf(answer).map((choice) => valueAt(choice, "/index"));
      return indexes.length === wanted && indexes.every((index, place) => index === place)
        ? undefined
        : `indexes ${show(indexes)} for n ${wanted}`;
    },
    true,
  ),
  checkAnswers("RESP-06", "Reads role and refusal.", (answer) =>
    firstFault(answer, (choice) =>
      valueAt(choice, "/message/role") === "assistant" && valueAt(choice, "/message/refusal") === null
        ? undefined
        : show(valueAt(choice, "/message")),
    ),
  ),
  checkAnswers(
    "RESP-07",
    "Reads the content.",
    (answer) =>
      firstFault(answer, (choice) => {
        const content = valueAt(choice, "/message/content");
        const hasCalls = listAt(choice, "/message/tool_calls").length > 0;
        return typeof content === "string" || (content === null && hasCalls) ? undefined : `content ${show(content)}`;
      }),
    true,
  ),
  checkAnswers(
    "RESP-08",
    "Reads finish_reason.",
    (answer) =>
      firstFault(answer, (choice) => {
        const reason = valueAt(choice, "/finish_reason");
        return ["stop", "length", "tool_calls", "content_filter"].includes(String(reason))
          ? undefined
          : `finish_reason ${show(reason)}`;
      }),
    true,
  ),
  checkUsage(
    "RESP-11",
    "Adds the counts.",
    (usage) => {
      const [prompt, completion, total] = ["prompt", "completion", "total"].map((name) =>
        numberAt(usage, `/${name}_tokens`),
      );
      return total !== undefined && prompt !== undefined && completion !== undefined && prompt + completion === total
        ? undefined
        : show(usage);
    },
    true,
  ),
  {
    clause: "RESP-12",
    how: "Compares the count of the prompt for one choice and for several.",
    uses: ["plain", "choices"],
    judge: (context) => {
      const [one, two] = [context.answer("plain"), context.answer("choices")];
      givenCompletion(one);
      completionOf(two);
      const [wanted, found] = [tokensOf(one, "prompt_tokens"), tokensOf(two, "prompt_tokens")];
      must(found === wanted, two, `prompt_tokens ${wanted}`, `${found}`);
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
      if (choicesOf(answer).some((_, index) => finishOf(answer, index) !== "length"))
        cannot("a choice did not stop at its token limit");
      must(
        count === wanted,
        answer,
        `completion_tokens ${wanted} for ${show(n)} choices of ${show(maxTokens)}`,
        `${count}`,
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
      const price = (name: string): string =>
        textAt(model, `/pricing/${name}`) ?? cannot(`the model object has no price ${name}`);
      const [prompt, completion] = [numberAt(usage, "/prompt_tokens"), numberAt(usage, "/completion_tokens")];
      if (!Number.isInteger(prompt) || !Number.isInteger(completion)) return "no counts";
      const wanted = decimalSum(
        decimalProduct(price("prompt"), prompt),
        decimalProduct(price("completion"), completion),
        price("request"),
      );
      const cost = textAt(usage, "/cost_usd") ?? "";
      const isExact = /^[0-9]+(\.[0-9]+)?$/.test(cost) && decimalSum(cost) === wanted;
      return isExact ? undefined : `cost_usd ${show(valueAt(usage, "/cost_usd"))} instead of ${wanted}`;
    },
  ),
  checkAnswers("RESP-17", "Compares both names of the reasoning.", (answer) =>
    firstFault(answer, (choice) =>
      valueAt(choice, "/message/reasoning") === valueAt(choice, "/message/reasoning_content")
        ? undefined
        : show(valueAt(choice, "/message")),
    ),
  ),
  checkAnswers(
    "RESP-18",
    "Searches the content for the special token that opens reasoning.",
    (answer) => (contentOf(answer).includes("<think>") && !isSpelled(answer) ? show(contentOf(answer)) : undefined),
    true,
  ),
  checkAnswers("RESP-19", "Looks for members of engines, at every depth.", ({ json }) => engineMemberIn(json)),
  {
    clause: "RESP-20",
    how: "Compares the fingerprint of every answer of one model.",
    uses,
    judge: (context) => {
      const prints = new Map<unknown, string>();
      for (const answer of context.all.filter(isCompletion)) {
        const value = answer.mediaType === "text/event-stream" ? chunksOf(answer)[0] : answer.json;
        const [model, print] = [valueAt(value, "/model"), textAt(value, "/system_fingerprint") ?? ""];
        must((prints.get(model) ?? print) === print, answer, show(prints.get(model)), print);
        prints.set(model, print);
      }
      return [...prints.values()].filter((print) => print !== "").join(", ") || cannot("no answer has a fingerprint");
    },
  },
];

export const resp: TestGroup = {
  steps: [...steps, cachedPromptStep],
  checks: [...checks, ...reasoningChecks, ...maxTokensChecks, cachedPromptCheck],
};
