import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { readInTurn } from "./read-turns.ts";

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test("an answer that arrives early in a round of the event loop is read at once", async () => {
  await nextRound();
  let read = 0;
  for (let answer = 0; answer < 100; answer += 1) readInTurn(() => (read += 1));
  expect(read).toBe(100);
});

test("answers that arrive late are read in order, a few in each of the next rounds, and other events are served in between", async () => {
  await nextRound();
  const read: number[] = [];
  readInTurn(() => block(60));
  for (let answer = 0; answer < 40; answer += 1) readInTurn(() => void read.push(answer));
  expect(read).toEqual([]);
  const seen: number[] = [];
  while (read.length < 40) {
    await nextRound();
    seen.push(read.length);
  }
  expect(seen.length).toBeGreaterThanOrEqual(3);
  expect(read).toEqual(Array.from({ length: 40 }, (_, answer) => answer));
});
