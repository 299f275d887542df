import { describe, expect, test } from "vitest";
import { bytesOf } from "../../test/cuts.ts";
import type { FinishReason } from "../engine.ts";
import { AnswerParser } from "./answer-parser.ts";
import type { AnswerPlan, FinalOutput, ParserOutput } from "./answer-parser.ts";

const plain: AnswerPlan = { isReasoning: false, tools: "off", isParallel: true, isConstrained: false, stop: [] };

interface Parsed {
  text: string;
  reasoning: string;
  readonly calls: string[];
  /** The text that the parser demanded, which was written without sampling. */
  forced: string;
  finish: FinishReason | undefined;
}

/** Plays a model that chooses these tokens and then ends its turn, or reaches the token limit. */
function parse(
  plan: Partial<AnswerPlan>,
  tokens: readonly string[],
  isTruncated = false,
  opensInReasoning = false,
): Parsed {
  const answer = new AnswerParser({ ...plain, ...plan }, opensInReasoning);
  const parsed: Parsed = { text: "", reasoning: "", calls: [], forced: "", finish: undefined };
  append(parsed, answer.open());
  for (const token of tokens) {
    if (parsed.finish) break;
    append(parsed, answer.push({ id: 0, token, bytes: bytesOf(token) }));
  }
  if (!parsed.finish) append(parsed, isTruncated ? answer.truncate() : answer.end());
  return parsed;
}

function append(parsed: Parsed, output: ParserOutput | FinalOutput): void {
  for (const delta of output.deltas) {
    if (delta.kind === "text") parsed.text += delta.text;
    if (delta.kind === "reasoning") parsed.reasoning += delta.text;
    if (delta.kind === "tool")
      parsed.calls[delta.index] = (parsed.calls[delta.index] ?? "") + (delta.name ?? "") + delta.arguments;
  }
  parsed.forced += output.force?.join("") ?? "";
  parsed.finish = output.finish;
}

const call = ['{"name": "f', '", "arguments": {"a": 1', "}}"];
const required = { tools: "required" } as const;
const auto = { tools: "auto" } as const;

describe("an answer, token by token", () => {
  test.each<[string, Partial<AnswerPlan>, string[], Partial<Parsed>]>([
    ["text", {}, ["Hel", "lo"], { text: "Hello", finish: "stop" }],
    ["a stop string", { stop: ["lo"] }, ["Hel", "lo", " more"], { text: "Hel", finish: "stop" }],
    [
      "reasoning, then text",
      { isReasoning: true },
      ["Hm", ".\n", "</think>", "\n\n", "Yes"],
      { forced: "<think>\n", reasoning: "Hm.", text: "Yes", finish: "stop" },
    ],
    [
      "reasoning that looks like a stop string",
      { isReasoning: true, stop: ["Hm"] },
      ["Hm", "</think>", "Yes"],
      { reasoning: "Hm", text: "Yes" },
    ],
    [
      "a call that the model chooses to make",
      auto,
      ["Let me see.", "<tool_call>", ...call],
      { text: "Let me see.", calls: ['f{"a": 1}'], forced: "\n\n</tool_call>", finish: "tool_calls" },
    ],
    [
      "two calls",
      auto,
      ["<tool_call>", ...call, "\n", "<tool_call>", ...call],
      { calls: ['f{"a": 1}', 'f{"a": 1}'], finish: "tool_calls" },
    ],
    [
      "only one where they may not be parallel",
      { ...auto, isParallel: false },
      ["<tool_call>", ...call, "<tool_call>", ...call],
      { calls: ['f{"a": 1}'], finish: "tool_calls" },
    ],
    [
      "text after a call",
      auto,
      ["<tool_call>", ...call, "Done."],
      { calls: ['f{"a": 1}'], text: "", finish: "tool_calls" },
    ],
    [
      "a forced call",
      required,
      call,
      { forced: "<tool_call>\n\n</tool_call>", calls: ['f{"a": 1}'], finish: "tool_calls" },
    ],
    [
      "a call that ends in one token with its line break",
      auto,
      ["<tool_call>", '{"name": "f", "arguments": {"a": "1', '"}}\n'],
      { forced: "\n</tool_call>", calls: ['f{"a": "1"}'], finish: "tool_calls" },
    ],
    [
      "a forced call after reasoning",
      { ...required, isReasoning: true },
      ["Hm", "</think>", ...call],
      { reasoning: "Hm", forced: "<think>\n\n\n<tool_call>\n\n</tool_call>", calls: ['f{"a": 1}'] },
    ],
    [
      "the special token of a call where there are no tools",
      {},
      ["<tool_call>", "x"],
      { text: "<tool_call>x", calls: [] },
    ],
    ["the end of reasoning that never began", {}, ["</think>", "x"], { text: "</think>x", reasoning: "" }],
  ])("%s", (_title, plan, tokens, want) => {
    expect(parse(plan, tokens)).toMatchObject(want);
  });

  test.each<[string, Partial<AnswerPlan>, string[], Partial<Parsed>]>([
    ["in text", { stop: ["lo!"] }, ["Hel", "lo"], { text: "Hello", finish: "length" }],
    ["in reasoning", { isReasoning: true }, ["Hm", "\n"], { reasoning: "Hm", finish: "length" }],
    ["in a call", required, call.slice(0, 2), { calls: ['f{"a": 1'], finish: "length" }],
    ["before the name of a call", required, ['{"na'], { calls: [], finish: "length" }],
    ["after a complete call", required, call, { calls: ['f{"a": 1}'], finish: "tool_calls" }],
  ])("cut %s", (_title, plan, tokens, want) => {
    expect(parse(plan, tokens, true)).toMatchObject(want);
  });

  test("a prompt that ends inside reasoning is continued", () => {
    expect(parse({}, ["Hm", "</think>", "Yes"], false, true)).toMatchObject({
      forced: "",
      reasoning: "Hm",
      text: "Yes",
    });
  });
});

describe("which special tokens may come, and whether the turn may end", () => {
  const states = (plan: Partial<AnswerPlan>, tokens: readonly string[]): [readonly string[], boolean] => {
    const answer = new AnswerParser({ ...plain, ...plan }, false);
    answer.open();
    for (const token of tokens) answer.push({ id: 0, token, bytes: bytesOf(token) });
    return [answer.allowedSpecialTokens, answer.canEnd];
  };
  test.each<[string, Partial<AnswerPlan>, string[], string[], boolean]>([
    ["text without tools", {}, [], [], true],
    ["text with tools", auto, ["x"], ["<tool_call>"], true],
    ["reasoning must be closed", { isReasoning: true }, ["Hm"], ["</think>"], false],
    ["a call must be completed", required, ['{"name'], [], false],
    ["after a call another may follow", auto, ["<tool_call>", ...call], ["<tool_call>"], true],
    ["JSON may be replaced by a call", { ...auto, isConstrained: true }, [], ["<tool_call>"], true],
    ["and not interrupted by one", { ...auto, isConstrained: true }, ["{"], [], true],
  ])("%s", (_title, plan, tokens, specialTokens, canEnd) => {
    expect(states(plan, tokens)).toEqual([specialTokens, canEnd]);
  });
});
