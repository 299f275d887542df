import { expect, test } from "vitest";
import { combineChoices } from "./combine-choices.ts";
import type { ChoiceDelta } from "./combine-choices.ts";

const usage = (completionTokens: number, reasoningTokens = 0): ChoiceDelta["counted"] => ({
  promptTokens: 5,
  cachedTokens: 2,
  completionTokens,
  reasoningTokens,
});
const text = (word: string, counted: ChoiceDelta["counted"]): ChoiceDelta => ({
  delta: { kind: "text", text: word, tokens: [] },
  counted,
});
const finish = (counted: ChoiceDelta["counted"]): ChoiceDelta => ({
  delta: { kind: "finish", reason: "stop" },
  counted,
});

async function* choice(...batches: (readonly ChoiceDelta[])[]): AsyncGenerator<readonly ChoiceDelta[]> {
  yield* batches;
}

test("the first event of every choice is its role, and only the first", async () => {
  const choices = [choice([text("a", usage(1)), finish(usage(2))]), choice([finish(usage(1))])];
  const events = (await Array.fromAsync(combineChoices(choices))).flat();
  const kindsOf = (wanted: number): string[] =>
    events.flatMap((event) => (event.kind !== "usage" && event.choice === wanted ? [event.kind] : []));
  expect([kindsOf(0), kindsOf(1)]).toEqual([
    ["role", "text", "finish"],
    ["role", "finish"],
  ]);
});

test("usage counts the tokens of all choices, and the prompt once", async () => {
  const choices = [choice([finish(usage(3, 1))]), choice([finish(usage(4, 2))])];
  const events = (await Array.fromAsync(combineChoices(choices))).flat();
  expect(events.findLast(({ kind }) => kind === "usage")).toEqual({ kind: "usage", usage: usage(7, 3) });
});

test("a choice that ends before it has written anything has no role", async () => {
  expect(await Array.fromAsync(combineChoices([choice()]))).toEqual([]);
});

test("a batch of deltas is a batch of events, behind the usage after all of them", async () => {
  const batches = await Array.fromAsync(
    combineChoices([choice([text("a", usage(1)), text("b", usage(2))], [finish(usage(3))])]),
  );
  expect(batches.map((events) => events.map(({ kind }) => kind))).toEqual([
    ["usage", "role", "text", "text"],
    ["usage", "finish"],
  ]);
  expect(batches.map(([first]) => first)).toEqual([2, 3].map((tokens) => ({ kind: "usage", usage: usage(tokens) })));
});

test.each([1, 2])("leaving the loop closes %i choices", async (n) => {
  const left: string[] = [];
  async function* endless(): AsyncGenerator<readonly ChoiceDelta[]> {
    try {
      for (;;) yield [text("a", usage(1))];
    } finally {
      left.push("closed");
    }
  }
  const choices = Array.from({ length: n }, endless);
  for await (const [event] of combineChoices(choices, () => left.push("left"))) {
    expect(event?.kind).toBe("usage");
    break;
  }
  expect(left.toSorted()).toEqual([...Array.from({ length: n }, () => "closed"), "left"]);
});
