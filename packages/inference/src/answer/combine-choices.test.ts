import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { combineChoices, mergeChoices } from "./combine-choices.ts";
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

/** Yields 0, 1, 2, …, records that it was closed, and fails or pauses where it should. */
async function* counter(count: number, closed: string[], name: string, failAt = -1): AsyncGenerator<number> {
  try {
    for (let value = 0; value < count; value += 1) {
      await wait(1);
      if (value === failAt) throw new Error(`${name} has failed`);
      yield value;
    }
  } finally {
    await wait(2);
    closed.push(name);
  }
}

describe("merged generators", () => {
  test("yield every value, in the generator's order", async () => {
    const got: number[][] = [[], [], []];
    for await (const [index, value] of mergeChoices([counter(3, [], "a"), counter(0, [], "b"), counter(5, [], "c")]))
      got[index]?.push(value);
    expect(got).toEqual([[0, 1, 2], [], [0, 1, 2, 3, 4]]);
  });

  test("all end when the loop is left, which waits until they have ended", async () => {
    const closed: string[] = [];
    for await (const [index] of mergeChoices([counter(9, closed, "a"), counter(9, closed, "b")]))
      if (index === 1) break;
    expect(closed.toSorted()).toEqual(["a", "b"]);
  });

  test("end when one of them fails", async () => {
    const closed: string[] = [];
    const reading = (async () => {
      for await (const step of mergeChoices([counter(9, closed, "a"), counter(9, closed, "b", 2)])) void step;
    })();
    await expect(reading).rejects.toThrow("b has failed");
    expect(closed.toSorted()).toEqual(["a", "b"]);
  });

  test("are asked for nothing before it is wanted", async () => {
    let asked = 0;
    async function* eager(): AsyncGenerator<number> {
      for (;;) yield (asked += 1);
    }
    const merged = mergeChoices([eager()]);
    await merged.next();
    await wait(5);
    expect(asked).toBe(1);
    await merged.return(undefined);
  });
});
