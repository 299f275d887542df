import { expect, test } from "vitest";
import { isRight } from "./judge-answer.ts";
import type { Answer } from "./judge-answer.ts";
import { readMessages, readSkills } from "./read-requests.ts";
import type { Case } from "./read-requests.ts";

const answer = (content: string, more: Partial<Answer> = {}): Answer => ({
  content,
  calls: [],
  finish: "stop",
  tokens: 1,
  ...more,
});
const called = (name: string, given: object): Answer =>
  answer("", { calls: [{ name, arguments: JSON.stringify(given) }], finish: "tool_calls" });
const kase = (expects: Case["expects"]): Case => ({ group: "test", body: {}, expects });
const pay = kase({ kind: "call", name: "pay", arguments: { to: "mo.eth", unit: "EUR" }, also: [{ unit: "euros" }] });
const retold = kase({ kind: "retold", patterns: ["7"] });

test.each<[string, Case, Answer, boolean]>([
  ["ends", kase({ kind: "ends" }), answer("x"), true],
  ["runs to the cap", kase({ kind: "ends" }), answer("x", { finish: "length" }), false],
  ["answers", kase({ kind: "answered" }), answer("Hello!"), true],
  ["declines", kase({ kind: "answered" }), answer("I was only taught Web3 topics."), false],
  ["is empty", kase({ kind: "answered" }), answer(""), false],
  ["follows", kase({ kind: "system", matches: "^[^a-z]+$", isCased: true }), answer("YES."), true],
  ["does not follow", kase({ kind: "system", matches: "^[^a-z]+$", isCased: true }), answer("Yes."), false],
  ["says what it must not", kase({ kind: "system", lacks: "mango", isCased: false }), answer("Mango."), false],
  ["is valid", kase({ kind: "valid", schema: { type: "string", format: "date" } }), answer('"2026-01-02"'), true],
  ["is not valid", kase({ kind: "valid", schema: { type: "string", format: "date" } }), answer('"soon"'), false],
  ["is not JSON", kase({ kind: "valid", schema: {} }), answer("{"), false],
  ["calls", pay, called("pay", { to: "mo.eth", unit: "EUR" }), true],
  ["calls in other words", pay, called("pay", { unit: "euros", to: "mo.eth" }), true],
  ["calls with another argument", pay, called("pay", { to: "bo.eth", unit: "EUR" }), false],
  ["calls something else", pay, called("stake", { to: "mo.eth", unit: "EUR" }), false],
  ["does not call", pay, answer("ok"), false],
  ["stays quiet", kase({ kind: "no call" }), answer("ok"), true],
  ["calls where no call is right", kase({ kind: "no call" }), called("pay", {}), false],
  ["retells", retold, answer("Gas is 7."), true],
  ["retells another number", retold, answer("Gas is 77."), false],
  ["retells a part of a number", retold, answer("Gas is 7.5."), false],
])("%s", (_title, asked, given, want) => {
  expect(isRight(asked, given)).toBe(want);
});

test("500 first messages and 200 requests of skills, none of them twice", () => {
  const [messages, skills] = [readMessages(), readSkills()];
  expect(messages.length).toBeGreaterThanOrEqual(500);
  expect(skills.length).toBeGreaterThanOrEqual(200);
  const bodies = [...messages, ...skills].map(({ body }) => JSON.stringify(body));
  expect(new Set(bodies).size).toBe(bodies.length);
  expect(readMessages()).toEqual(messages);
});
