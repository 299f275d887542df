import { expect, test } from "vitest";
import { combineChoices } from "./combine-choices.ts";
import type { ChoiceDelta } from "./combine-choices.ts";

const usage = (completion_tokens: number, reasoning_tokens = 0): ChoiceDelta["counted"] => ({
  prompt_tokens: 5,
  cached_tokens: 2,
  completion_tokens,
  reasoning_tokens,
});
const text = (word: string, counted: ChoiceDelta["counted"]): ChoiceDelta => ({
  kind: "text",
  text: word,
  tokens: [],
  counted,
});
const finish = (counted: ChoiceDelta["counted"]): ChoiceDelta => ({ kind: "finish", reason: "stop", counted });

async function* choice(...deltas: ChoiceDelta[]): AsyncGenerator<ChoiceDelta> {
  yield* deltas;
}

test("the first event of every choice is its role, and only the first", async () => {
  const choices = [choice(text("a", usage(1)), finish(usage(2))), choice(finish(usage(1)))];
  const events = await Array.fromAsync(combineChoices(choices));
  const kindsOf = (wanted: number): string[] =>
    events.filter((event) => event.choice === wanted).map(({ kind }) => kind);
  expect([kindsOf(0), kindsOf(1)]).toEqual([
    ["role", "text", "finish"],
    ["role", "finish"],
  ]);
});

test("usage counts the tokens of all choices, and the prompt once", async () => {
  const choices = [choice(finish(usage(3, 1))), choice(finish(usage(4, 2)))];
  const events = await Array.fromAsync(combineChoices(choices));
  expect(events.at(-1)?.usage).toEqual(usage(7, 3));
});

test("a choice that ends before it has written anything has no role", async () => {
  expect(await Array.fromAsync(combineChoices([choice()]))).toEqual([]);
});

test("leaving the loop closes the choices", async () => {
  const left: string[] = [];
  async function* endless(): AsyncGenerator<ChoiceDelta> {
    try {
      for (;;) yield text("a", usage(1));
    } finally {
      left.push("closed");
    }
  }
  for await (const event of combineChoices([endless()], () => left.push("left"))) {
    expect(event.kind).toBe("role");
    break;
  }
  expect(left).toEqual(["left", "closed"]);
});
