import { isDeepStrictEqual } from "node:util";
import { clauseOf, document, faultsOf } from "../../contract/contract.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { valueAt, contentOf, givenCompletion, isCompletion, isRecord, listAt, textAt } from "../../judge/read.ts";
import { modelId, modelObjectsOf } from "../../requests/listed-model.ts";
import { nameChecks } from "./names.ts";
import { plans, listedModel, readyIds, steps } from "./requests.ts";

const shownFirst = new Set([
  "id",
  "name",
  "created",
  "description",
  "context_length",
  "max_completion_tokens",
  "quantization",
  "pricing",
]);

/** A check of every model object in the listing. */
const checkModelObjects = (
  clause: string,
  how: string,
  faultOf: (one: Record<string, unknown>) => string | undefined,
): Check => ({
  clause,
  how,
  uses: ["models"],
  judge: (context) => {
    const models = modelObjectsOf(context);
    const answer = context.answer("models");
    must(models.length > 0, answer, "a listing with model objects", answer.summary);
    for (const one of models) {
      const fault = faultOf(one);
      must(
        fault === undefined,
        answer,
        clauseOf.get(clause)?.sentence ?? "",
        `the model object of ${show(one["id"])} with ${fault}`,
      );
    }
    return `${models.length} models`;
  },
});

const schemaFault = (isOf: (member: string) => boolean) => (one: Record<string, unknown>) =>
  required.filter((name) => isOf(name) && one[name] === undefined).map((name) => `no ${name}`)[0] ??
  faultsOf("Model", one).find((fault) => fault.startsWith("/") && isOf(fault.split(/[/ ]/)[1] ?? ""));

const required = listAt(document.components.schemas["Model"], "/required").map(String);
/** Compares two decimals of any length. */
function isAtMost(small: string, large: string): boolean {
  const [[whole = "", part = ""], [otherWhole = "", otherPart = ""]] = [small.split("."), large.split(".")];
  const digits = Math.max(part.length, otherPart.length);
  return BigInt(whole + part.padEnd(digits, "0")) <= BigInt(otherWhole + otherPart.padEnd(digits, "0"));
}

const isDecimal = (price: unknown): boolean => typeof price === "string" && /^[0-9]+(\.[0-9]+)?$/.test(price);

/** A model object without the member that may change between two requests. */
const unchanging = (model: unknown): unknown => (isRecord(model) ? { ...model, is_ready: undefined } : "none");

const retrieved = ["retrieve, raw", "retrieve, encoded"];

const checks: readonly Check[] = [
  {
    clause: "MODL-01",
    how: "Reads the listing.",
    uses: ["models"],
    judge: (context) => {
      const answer = context.answer("models");
      must(
        answer.status === 200 && valueAt(answer.json, "/object") === "list",
        answer,
        'status 200 with `object: "list"`',
        answer.summary,
      );
      const data = valueAt(answer.json, "/data");
      must(Array.isArray(data) && data.every(isRecord), answer, "model objects in `data`", answer.summary);
      return `${data.length} models`;
    },
    common: (context) => {
      const answer = context.answer("models");
      must(
        answer.status === 200 && listAt(answer.json, "/data").every((one) => textAt(one, "/id") !== undefined),
        answer,
        "ids in `data`",
        answer.summary,
      );
      return "ids in data";
    },
  },
  checkModelObjects(
    "MODL-02",
    "Holds the eight members of every model object to their schema.",
    schemaFault((name) => shownFirst.has(name)),
  ),
  checkModelObjects(
    "MODL-03",
    "Holds the other members of every model object to their schema.",
    schemaFault((name) => !shownFirst.has(name)),
  ),
  checkModelObjects("MODL-04", "Compares id and owner.", ({ id, owned_by: owner }) =>
    typeof id === "string" && /^[^/]+\/.+$/.test(id) && owner === id.split("/")[0]
      ? undefined
      : `owned by ${show(owner)}`,
  ),
  checkModelObjects("MODL-05", "Compares the two maxima.", (one) =>
    one["max_output_length"] === one["max_completion_tokens"] && typeof one["max_output_length"] === "number"
      ? undefined
      : `${show(one["max_output_length"])} and ${show(one["max_completion_tokens"])}`,
  ),
  checkModelObjects("MODL-06", "Reads every price.", ({ pricing }) => {
    const prices = isRecord(pricing) ? Object.entries(pricing) : [];
    const odd = prices.find(([, price]) => !isDecimal(price));
    return prices.length === 0 ? "no prices" : odd && `${odd[0]} is ${show(odd[1])}`;
  }),
  {
    clause: "MODL-08",
    how: "Asks every model that the listing calls ready for a token.",
    uses: ["models", "plain", "other models"],
    judge: (context) => {
      if (readyIds(context).length === 0) cannot("no model object says is_ready");
      const answers = [
        context.answer("plain"),
        ...(context.has("other models") ? context.answers("other models") : []),
      ];
      for (const answer of answers)
        must(isCompletion(answer), answer, "status 200 with a chat completion", answer.summary);
      return `${answers.length} models answered`;
    },
    common: (context) => {
      if (listedModel(context) === undefined) cannot("the listing does not name the model");
      must(
        isCompletion(context.answer("plain")),
        context.answer("plain"),
        "200 with a completion",
        context.answer("plain").summary,
      );
      return "the listed model answered";
    },
  },
  {
    clause: "MODL-09",
    how: "Compares the retrieved model object with the one in the listing.",
    uses: ["models", ...retrieved],
    judge: (context) => {
      const answers = retrieved.map((step) => context.answer(step));
      const found = answers.filter(({ status }) => status === 200);
      must(found.length > 0, answers[0], "status 200", answers[0]?.summary ?? "no answer");
      for (const answer of found)
        must(
          isRecord(answer.json) && isDeepStrictEqual(unchanging(answer.json), unchanging(listedModel(context))),
          answer,
          `the model object of the listing, ${show(listedModel(context))}`,
          `the model object ${show(answer.json)}`,
        );
      return "the same model object";
    },
  },
  {
    clause: "MODL-10",
    how: "Retrieves one model with its slash raw and encoded.",
    uses: retrieved,
    judge: (context) => {
      if (!modelId(context).includes("/")) cannot("the id of the model has no slash");
      for (const answer of retrieved.map((step) => context.answer(step)))
        must(
          answer.status === 200 && valueAt(answer.json, "/id") === modelId(context),
          answer,
          `status 200 with the model object of ${modelId(context)}`,
          answer.summary,
        );
      return "both give the model";
    },
  },
  {
    clause: "MODL-13",
    how: "Asks one seeded question without sampling members, and with the defaults of the model object.",
    uses: ["sampling defaults"],
    judge: (context) => {
      const [without, given] = context.answers("sampling defaults");
      if (!without || !given) cannot("not answered");
      givenCompletion(without);
      givenCompletion(given);
      must(
        contentOf(without) === contentOf(given),
        given,
        `the text ${show(contentOf(without))}`,
        `the text ${show(contentOf(given))}`,
      );
      return `both: ${show(contentOf(given))}`;
    },
  },
  checkModelObjects("MODL-23", "Compares the length of trained prompts with the context.", (one) => {
    const { trained_prompt_tokens: trained, context_length: context } = one;
    return trained === undefined || Number(trained) <= Number(context)
      ? undefined
      : `${show(trained)} tokens in a context of ${show(context)}`;
  }),
  checkModelObjects("MODL-24", "Compares the price of cached tokens with that of others.", ({ pricing }) => {
    const [cached, prompt] = [textAt(pricing, "/input_cache_read"), textAt(pricing, "/prompt")];
    if (cached === undefined) return undefined;
    if (!isDecimal(cached) || !isDecimal(prompt)) return "prices that are not decimals";
    return isAtMost(cached, prompt ?? "") ? undefined : `${cached} for a cached token, ${show(prompt)} for another`;
  }),
  checkModelObjects("MODL-14", "Compares default_reasoning_effort with the features.", (one) => {
    const canReason = listAt(one, "/supported_features").includes("reasoning");
    return (typeof one["default_reasoning_effort"] === "string") === canReason
      ? undefined
      : `${canReason ? "can" : "cannot"} reason, and the effort is ${show(one["default_reasoning_effort"])}`;
  }),
];

export const modl: TestGroup = {
  steps: [...plans.steps, ...steps],
  checks: [...plans.checks, ...checks, ...nameChecks],
};
