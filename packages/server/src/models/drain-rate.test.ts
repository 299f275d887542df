import { expect, test } from "vitest";
import { DrainRate } from "./drain-rate.ts";

/** Returns the drain rate of a queue that admitted a request every `everyMs` milliseconds, `turns` times, until now. */
function drained(everyMs: number, turns: number): DrainRate {
  let now = 0;
  const rate = new DrainRate(() => now);
  for (let turn = 0; turn < turns; turn += 1) {
    rate.noteTurn();
    now += everyMs;
  }
  return rate;
}

test.each([
  ["a turn a second", 1000, 20, 10, 10_000],
  ["ten turns a second", 100, 300, 10, 1000],
  ["a turn in ten seconds", 10_000, 10, 4, 45_000],
  ["hardly any turns", 10_000, 10, 100, 60_000],
  ["more turns than are remembered", 10, 5000, 300, 3000],
])("with %s", (_name, everyMs, turns, requests, waitMs) => {
  expect(Math.abs(drained(everyMs, turns).waitMs(requests) - waitMs)).toBeLessThanOrEqual(waitMs / 9);
});

test("the wait is a minute if no request was admitted in the last 30 seconds", () => {
  expect(drained(31_000, 1).waitMs(1)).toBe(60_000);
  expect(new DrainRate(() => 0).waitMs(1)).toBe(60_000);
});
