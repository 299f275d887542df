import { commonFaultsOf } from "../../contract/common-shapes.ts";
import { clauseOf, engineMemberIn, faultsOf } from "../../contract/contract.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  valueAt,
  choiceEvents,
  chunksOf,
  completionOf,
  contentOf,
  finishOf,
  isCompletion,
  listAt,
  numberAt,
  sentBody,
  textAt,
} from "../../judge/read.ts";
import { modelObjectFor } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { maxTokensChecks } from "./max-tokens.ts";
import { reasoningChecks } from "./reasoning.ts";
import { answeredSteps as uses, steps } from "./requests.ts";
import { cachedPromptStep, usageChecks } from "./usage.ts";

const wholes = (context: Context): readonly Answer[] =>
  context.all.filter((answer) => isCompletion(answer) && answer.mediaType === "application/json");

type FaultOf = (answer: Answer, context: Context) => string | undefined;

/** A check of every whole answer of the run. */
const checkAnswers = (clause: string, how: string, faultOf: FaultOf, commonFaultOf?: FaultOf): Check => {
  const judgeBy = (fault: FaultOf) => (context: Context) => {
    completionOf(context.answer("plain"));
    for (const answer of wholes(context)) {
      const found = fault(answer, context);
      must(found === undefined, answer, clauseOf.get(clause)?.sentence ?? "", found ?? "");
    }
    return wholes(context).length > 0 ? `${wholes(context).length} answers` : "";
  };
  const uses = ["plain", "choices", "short"];
  return { clause, how, uses, judge: judgeBy(faultOf), ...(commonFaultOf && { common: judgeBy(commonFaultOf) }) };
};

const hasAssistant = (choice: unknown): boolean => valueAt(choice, "/message/role") === "assistant";
const choicesOf = (answer: Answer): readonly unknown[] => listAt(answer.json, "/choices");
const firstFault = (answer: Answer, faultOf: (choice: unknown) => string | undefined): string | undefined =>
  choicesOf(answer)
    .map(faultOf)
    .find((fault) => fault !== undefined);

/** Returns whether the request contains the special token: the answer may then repeat it as text. */
const isSpelled = (answer: Answer): boolean => (answer.exchange.request.body ?? "").includes("<think>");

/** A check of the texts that the model wrote at temperature 0, streamed or not. */
function checkTexts(clause: string, how: string, isBroken: (text: string) => boolean): Check {
  const isEchoed = (answer: Answer): boolean => isBroken(JSON.stringify(sentBody(answer)).replaceAll("\\ud", "\ufffd"));
  return {
    clause,
    how,
    uses,
    judge: (context) => {
      const texts = context.all
        .filter((answer) => isCompletion(answer) && sentBody(answer)["temperature"] === 0 && !isEchoed(answer))
        .flatMap((answer) => textsOf(answer).map((text) => ({ answer, text })));
      for (const { answer, text } of texts) must(!isBroken(text), answer, "whole characters", `the text ${show(text)}`);
      return texts.some(({ text }) => text !== "") ? `${texts.length} texts` : cannot("no answer has a text");
    },
  };
}

/** The texts of all choices. The last character of a text that was cut may be incomplete. */
function textsOf(answer: Answer): string[] {
  const { n } = sentBody(answer);
  return Array.from({ length: typeof n === "number" ? n : 1 }, (_, index) => piecesOf(answer, index)).flat();
}

function piecesOf(answer: Answer, index: number): string[] {
  const isStream = answer.mediaType === "text/event-stream";
  const pieces = isStream
    ? choiceEvents(answer, index).map((choice) => textAt(choice, "/delta/content") ?? "")
    : [contentOf(answer, index)];
  if (finishOf(answer, index) !== "length") return pieces;
  return [...pieces.slice(0, -1), (pieces.at(-1) ?? "").replace(/\ufffd+$/, "")];
}

const checks: readonly Check[] = [
  {
    clause: "RESP-01",
    how: "Collects the id of every answer of the run.",
    uses,
    judge: (context) => {
      const ids = new Map<string, Answer>();
      // An answer that is sent again has its first id (IDEM-01).
      const answers = context.all.filter((one) => isCompletion(one) && one.header("idempotent-replayed") === undefined);
      for (const answer of answers) {
        const id = textAt(answer.mediaType === "text/event-stream" ? chunksOf(answer)[0] : answer.json, "/id") ?? "";
        must(/^chatcmpl-[!-~]+$/.test(id), answer, "an id that begins with chatcmpl-", `the id ${show(id)}`);
        must(!ids.has(id), answer, "an id of its own", `the id ${id} of "${ids.get(id)?.name}" again`);
        ids.set(id, answer);
      }
      return ids.size > 1 ? `${ids.size} different ids` : "";
    },
  },
  checkAnswers(
    "RESP-02",
    "Holds every whole answer to the schema.",
    ({ json }) => faultsOf("ChatCompletion", json).map((fault) => `in the body ${fault.trim()}`)[0],
    ({ json }) => commonFaultsOf("completion", json)[0],
  ),
  checkAnswers("RESP-03", "Compares `created` with the header Date, and with the clock.", (answer) => {
    // An answer that comes again has the time of the first one.
    if (answer.header("idempotent-replayed") === "true") return undefined;
    const created = numberAt(answer.json, "/created");
    const { startedAt, endedMs } = answer.exchange;
    const begun = Date.parse(startedAt) / 1000;
    const date = Date.parse(answer.header("date") ?? "") / 1000;
    const isBetween = (first: number, last: number): boolean => created >= first - 3 && created <= last + 3;
    const isNear = isBetween(date - endedMs / 1000, date) || isBetween(begun, begun + endedMs / 1000);
    return Number.isInteger(created) && isNear
      ? undefined
      : `created ${show(created)} where the clock is at ${Math.round(begun)}`;
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
      : `model ${show(model)}`;
  }),
  checkAnswers("RESP-05", "Counts the choices and reads their indexes.", (answer) => {
    const { n } = sentBody(answer);
    const wanted = typeof n === "number" ? n : 1;
    const indexes = choicesOf(answer).map((choice) => valueAt(choice, "/index"));
    return indexes.length === wanted && indexes.every((index, place) => index === place)
      ? undefined
      : `choices with the indexes ${show(indexes)} where n is ${wanted}`;
  }),
  checkAnswers(
    "RESP-06",
    "Reads role and refusal.",
    (answer) =>
      firstFault(answer, (choice) =>
        hasAssistant(choice) && valueAt(choice, "/message/refusal") === null
          ? undefined
          : `the message ${show(valueAt(choice, "/message"))}`,
      ),
    (answer) =>
      firstFault(answer, (choice) =>
        hasAssistant(choice) ? undefined : `the message ${show(valueAt(choice, "/message"))}`,
      ),
  ),
  checkAnswers("RESP-07", "Reads the content.", (answer) =>
    firstFault(answer, (choice) => {
      const content = valueAt(choice, "/message/content");
      const hasCalls = listAt(choice, "/message/tool_calls").length > 0;
      return typeof content === "string" || (content === null && hasCalls) ? undefined : `content ${show(content)}`;
    }),
  ),
  checkAnswers("RESP-08", "Reads finish_reason.", (answer) =>
    firstFault(answer, (choice) => {
      const reason = valueAt(choice, "/finish_reason");
      return ["stop", "length", "tool_calls", "content_filter"].includes(String(reason))
        ? undefined
        : `finish_reason ${show(reason)}`;
    }),
  ),
  checkAnswers("RESP-17", "Compares both names of the reasoning.", (answer) =>
    firstFault(answer, (choice) =>
      valueAt(choice, "/message/reasoning") === valueAt(choice, "/message/reasoning_content")
        ? undefined
        : `the message ${show(valueAt(choice, "/message"))}`,
    ),
  ),
  checkAnswers("RESP-18", "Searches the content for the special tokens around reasoning.", (answer) =>
    /<\/?think>/.test(contentOf(answer)) && !isSpelled(answer) ? `the content ${show(contentOf(answer))}` : undefined,
  ),
  checkTexts(
    "RESP-25",
    "Searches the texts of answers at temperature 0 for U+FFFD and for halves of surrogate pairs.",
    (text) => text.includes("\ufffd") || !text.isWellFormed(),
  ),
  checkAnswers("RESP-19", "Looks for members of engines, at every depth.", ({ json }) => {
    const member = engineMemberIn(json);
    return member && `the member ${member}`;
  }),
  {
    clause: "RESP-20",
    how: "Compares the fingerprint of every answer of one model.",
    uses,
    judge: (context) => {
      const prints = new Map<unknown, string>();
      for (const answer of context.all.filter(isCompletion)) {
        const value = answer.mediaType === "text/event-stream" ? chunksOf(answer)[0] : answer.json;
        const [model, print] = [valueAt(value, "/model"), textAt(value, "/system_fingerprint") ?? ""];
        must(
          (prints.get(model) ?? print) === print,
          answer,
          `the fingerprint ${show(prints.get(model))}, as in an earlier answer`,
          `the fingerprint ${show(print)}`,
        );
        prints.set(model, print);
      }
      return [...prints.values()].filter((print) => print !== "").join(", ") || cannot("no answer has a fingerprint");
    },
  },
];

export const resp: TestGroup = {
  steps: [...steps, cachedPromptStep],
  checks: [...checks, ...reasoningChecks, ...maxTokensChecks, ...usageChecks],
};
