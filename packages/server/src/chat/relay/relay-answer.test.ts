import type { EngineEvent } from "@parley/inference";
import { expect, test } from "vitest";
import { joinTexts } from "./relay-answer.ts";

const usage = (completionTokens: number): EngineEvent => ({
  kind: "usage",
  usage: { promptTokens: 5, cachedTokens: 0, completionTokens, reasoningTokens: 0 },
});
const text = (written: string, choice = 0): EngineEvent => ({ kind: "text", text: written, tokens: [], choice });
const role: EngineEvent = { kind: "role", choice: 0 };
const finish: EngineEvent = { kind: "finish", reason: "stop", choice: 0 };

test("consecutive texts of a choice are joined, behind the latest usage", () => {
  const events = [usage(0), role, usage(1), text("a"), usage(2), text("b"), text("c"), usage(3), finish];
  expect(joinTexts(events)).toEqual([usage(3), role, text("abc"), finish]);
});

test("texts of different choices stay apart", () => {
  const events = [text("a"), text("x", 1), text("b"), text("c")];
  expect(joinTexts(events)).toEqual([text("a"), text("x", 1), text("bc")]);
});

test("texts with tokens are not joined, nor are texts around an event of another kind", () => {
  const token = { token: "b", bytes: [0x62], logprob: -1 };
  const withToken: EngineEvent = { kind: "text", text: "b", tokens: [token], choice: 0 };
  const reasoning: EngineEvent = { kind: "reasoning", text: "r", choice: 0 };
  const events = [text("a"), withToken, text("c"), reasoning, text("d")];
  expect(joinTexts(events)).toEqual(events);
});
