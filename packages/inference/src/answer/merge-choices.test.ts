import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { mergeChoices } from "./merge-choices.ts";

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

test("yields every value of every generator, in the generator's order", async () => {
  const got: number[][] = [[], [], []];
  for await (const [index, value] of mergeChoices([counter(3, [], "a"), counter(0, [], "b"), counter(5, [], "c")]))
    got[index]?.push(value);
  expect(got).toEqual([[0, 1, 2], [], [0, 1, 2, 3, 4]]);
});

test("leaving the loop ends all, and waits until they have ended", async () => {
  const closed: string[] = [];
  for await (const [index] of mergeChoices([counter(9, closed, "a"), counter(9, closed, "b")])) if (index === 1) break;
  expect(closed.toSorted()).toEqual(["a", "b"]);
});

test("the failure of one ends the others", async () => {
  const closed: string[] = [];
  const reading = (async () => {
    for await (const step of mergeChoices([counter(9, closed, "a"), counter(9, closed, "b", 2)])) void step;
  })();
  await expect(reading).rejects.toThrow("b has failed");
  expect(closed.toSorted()).toEqual(["a", "b"]);
});

test("nothing is asked for before it is wanted", async () => {
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
