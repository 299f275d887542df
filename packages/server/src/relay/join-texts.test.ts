import type { EngineEvent } from "@parley/inference";
import { expect, test } from "vitest";
import { joinTexts } from "./join-texts.ts";

const usage = (completionTokens: number): EngineEvent["usage"] => ({
  promptTokens: 5,
  cachedTokens: 0,
  completionTokens,
  reasoningTokens: 0,
});
const text = (written: string, counted: number, choice = 0): EngineEvent => ({
  kind: "text",
  text: written,
  tokens: [],
  choice,
  usage: usage(counted),
});
const role: EngineEvent = { kind: "role", choice: 0, usage: usage(0) };
const finish: EngineEvent = { kind: "finish", reason: "stop", choice: 0, usage: usage(3) };

test("consecutive texts of a choice are joined, with the latest usage", () => {
  const events = [role, text("a", 1), text("b", 2), text("c", 3), finish];
  expect(joinTexts(events)).toEqual([role, text("abc", 3), finish]);
});

test("texts of different choices stay apart", () => {
  const events = [text("a", 1), text("x", 2, 1), text("b", 3), text("c", 4)];
  expect(joinTexts(events)).toEqual([text("a", 1), text("x", 2, 1), text("bc", 4)]);
});

test("texts with tokens are not joined, nor are texts around an event of another kind", () => {
  const token = { token: "b", bytes: [0x62], logprob: -1 };
  const withToken: EngineEvent = { kind: "text", text: "b", tokens: [token], choice: 0, usage: usage(2) };
  const reasoning: EngineEvent = { kind: "reasoning", text: "r", choice: 0, usage: usage(4) };
  const events = [text("a", 1), withToken, text("c", 3), reasoning, text("d", 5)];
  expect(joinTexts(events)).toEqual(events);
});
