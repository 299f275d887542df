import { array, assert, boolean, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { miniFolder } from "../../../testing/start-scripted-vllm.ts";
import type { AnswerPlan } from "../../answer/answer-parser.ts";
import { describeWith } from "../../prompt/vocabulary.ts";
import { readModelFolder } from "../../model-folder/model-folder.ts";
import { openTokenizer } from "../../model-folder/open-tokenizer.ts";
import { CompletionChoiceReader } from "./read-choice.ts";
import type { ChoiceDelta } from "../../answer/combine-choices.ts";
import type { CompletionEnd } from "./read-completion.ts";

const folder = readModelFolder(miniFolder);
const encode = openTokenizer(folder);
const model = {
  describe: describeWith(folder.vocabulary),
  isEndOfTurn: (token: number) => folder.endOfTurn.includes(token),
  isSpecialToken: (token: number) => folder.vocabulary.specialTokenIds.includes(token),
};
const plain: AnswerPlan = { isReasoning: false, tools: "off", isParallel: true, isConstrained: false, stop: [] };

interface Read {
  readonly kinds: readonly string[];
  readonly text: string;
  readonly finish: string | undefined;
  readonly last: ChoiceDelta["counted"] | undefined;
  /** The number of tokens that were read before the stream was left. */
  readonly taken: number;
}

/** Reads an answer with one token in every event, until it ends for the given reason. */
function read(plan: Partial<AnswerPlan>, written: string, reason: CompletionEnd["reason"] = "stop"): Read {
  const prompt = { tokens: [1, 2, 3, 4, 5], opensInReasoning: false };
  const reader = new CompletionChoiceReader({ plan: { ...plain, ...plan }, prompt, model, topLogprobs: undefined });
  const deltas: ChoiceDelta[] = [];
  const tokens = encode(written);
  let taken = 0;
  for (const id of tokens) {
    if (reader.isDone) break;
    taken += 1;
    const finish_reason = taken === tokens.length ? reason : null;
    const usage = { prompt_tokens: 5, completion_tokens: taken };
    reader.push([JSON.stringify({ choices: [{ token_ids: [id], finish_reason }], usage })], deltas);
  }
  reader.end(deltas);
  return {
    kinds: deltas.map(({ delta }) => delta.kind).filter((kind, place, all) => kind !== all[place - 1]),
    text: deltas.map(({ delta }) => (delta.kind === "text" || delta.kind === "reasoning" ? delta.text : "")).join(""),
    finish: deltas.flatMap(({ delta }) => (delta.kind === "finish" ? [delta.reason] : []))[0],
    last: deltas.at(-1)?.counted,
    taken,
  };
}

const call = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';

test.each<[string, Partial<AnswerPlan>, string, readonly string[], string]>([
  ["text", {}, "Yes.<|im_end|>", ["text", "finish"], "stop"],
  ["nothing", {}, "<|im_end|>", ["finish"], "stop"],
  [
    "reasoning and text",
    { isReasoning: true },
    "<think>\nHm.</think>\n\nYes.<|im_end|>",
    ["reasoning", "text", "finish"],
    "stop",
  ],
  ["a call", { tools: "required" }, `${call}<|im_end|>`, ["tool", "finish"], "tool_calls"],
  [
    "reasoning and a call",
    { isReasoning: true, tools: "required" },
    `<think>\nHm.</think>\n\n${call}<|im_end|>`,
    ["reasoning", "tool", "finish"],
    "tool_calls",
  ],
  [
    "text and two calls",
    { tools: "auto" },
    `Wait.${call}\n${call}<|im_end|>`,
    ["text", "tool", "finish"],
    "tool_calls",
  ],
  [
    "the only call that may be",
    { tools: "required", isParallel: false },
    `${call}<|im_end|>`,
    ["tool", "finish"],
    "tool_calls",
  ],
])("%s", (_title, plan, written, kinds, finish) => {
  const seen = read(plan, written);
  expect([seen.kinds, seen.finish]).toEqual([kinds, finish]);
  expect(seen.last?.completionTokens).toBe(seen.taken);
  expect(seen.last?.reasoningTokens ?? 0).toBe(plan.isReasoning === true ? encode("<think>\nHm.</think>").length : 0);
});

test("an answer at the token limit ends with `length`, and an incomplete call does not become text", () => {
  const seen = read({ tools: "required" }, call.slice(0, 30), "length");
  expect([seen.text, seen.finish]).toEqual(["", "length"]);
});

test("special tokens in unexpected places do not become text", () => {
  expect(read({}, "a</think>b<tool_call>c<|im_end|>")).toMatchObject({ text: "abc", finish: "stop" });
});

test("a stop string ends the answer before it, and leaves the rest of the stream", () => {
  const seen = read({ tools: "auto", stop: ["two"] }, "one two three four five six<|im_end|>");
  expect([seen.text, seen.finish]).toEqual(["one ", "stop"]);
  expect(seen.taken).toBeLessThan(encode("one two three four").length);
});

test.each<[string, Partial<AnswerPlan>, string, RegExp]>([
  ["does not follow the constraint", { tools: "required" }, "Sorry, no.<|im_end|>", /did not follow the constraint/],
  ["ends in the middle of reasoning", { isReasoning: true }, "<think>\nHm", /inside reasoning or a call/],
  ["ends in the middle of a call", { tools: "required" }, call.slice(0, 30), /inside reasoning or a call/],
])("an engine that %s has failed", (_title, plan, written, why) => {
  expect(() => read(plan, written)).toThrow(why);
});

/** An event as vLLM writes it. */
const event = (id: number, text: string, usage: object | undefined): string =>
  JSON.stringify({
    id: "cmpl-1",
    object: "text_completion",
    created: 1_795_230_934,
    model: "vendor/model-1",
    choices: [{ index: 0, text, logprobs: null, finish_reason: null, stop_reason: null, token_ids: [id] }],
    ...(usage && { usage }),
  });

const pieces = ["Yes", " the", "以太坊", "🦊", "\n\n", "<tool_call>", "<think>", "</think>", "<", "tool_call>", " "];

/** @param cut the number of events in the first batch */
function readEvents(events: readonly string[], cut: number, plan: Partial<AnswerPlan>, isWhole: boolean): unknown {
  const prompt = { tokens: [1, 2, 3], opensInReasoning: plan.isReasoning === true };
  const choice = { plan: { ...plain, ...plan }, prompt, model, topLogprobs: undefined, isWhole };
  const reader = new CompletionChoiceReader(choice);
  const deltas: ChoiceDelta[] = [];
  let failure: unknown;
  try {
    for (const batch of [events.slice(0, cut), events.slice(cut)]) reader.push(batch, deltas);
    reader.end(deltas);
  } catch (error) {
    failure = String(error);
  }
  const texts: string[] = [];
  for (const { delta } of deltas) {
    const text = delta.kind === "finish" ? delta.reason : delta.kind === "tool" ? delta.arguments : delta.text;
    if (texts.at(-2) === delta.kind) texts.push((texts.pop() ?? "") + text);
    else texts.push(delta.kind, text);
  }
  return { texts, last: failure === undefined ? deltas.at(-1)?.counted : undefined, failure };
}

test("an answer that is not streamed has the same texts and counts as a streamed one", () => {
  const plans = constantFrom<Partial<AnswerPlan>>({}, { isReasoning: true }, { tools: "auto" }, { stop: ["the"] });
  assert(
    property(
      array(constantFrom(...pieces)),
      boolean(),
      integer({ min: 0, max: 8 }),
      plans,
      (all, counts, cut, plan) => {
        const ids = all.flatMap((piece) => encode(piece));
        const usageAt = (at: number): object | undefined =>
          counts ? { prompt_tokens: 3, total_tokens: 4 + at, completion_tokens: at + 1 } : undefined;
        const events = ids.map((id, at) => event(id, model.describe(id).token, usageAt(at)));
        const finish = JSON.stringify({ choices: [{ token_ids: [folder.endOfTurn[0]], finish_reason: "stop" }] });
        const written = [...events, finish, "[DONE]"];
        expect(readEvents(written, cut, plan, true)).toEqual(readEvents(written, cut, plan, false));
      },
    ),
  );
});

test("its tokens arrive in one piece", () => {
  const reader = new CompletionChoiceReader({
    plan: plain,
    prompt: { tokens: [1, 2, 3], opensInReasoning: false },
    model,
    topLogprobs: undefined,
    isWhole: true,
  });
  const deltas: ChoiceDelta[] = [];
  reader.push(
    encode("one two three four").map((id) => event(id, model.describe(id).token, undefined)),
    deltas,
  );
  expect(deltas.map(({ delta }) => delta)).toMatchObject([{ kind: "text", text: "one two three four" }]);
});
