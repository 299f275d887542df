import { expect, test } from "vitest";
import { CrashCount, backoffMs } from "./backoff.ts";
import { defaultTimings } from "./timings.ts";

const bounds = { firstMs: 1000, maxMs: 300_000 };

test.each([
  ["nothing at the least", 5, 0, 0],
  ["nearly the first bound", 0, 0.999, 999],
  ["half of twice that", 1, 0.5, 1000],
  ["doubled every time", 4, 0.5, 8000],
  ["never more than the last bound", 20, 0.5, 150_000],
  ["however often", 5000, 0.5, 150_000],
])("waits %s", (_title, attempt, random, want) => {
  expect(backoffMs(attempt, bounds, () => random)).toBe(want);
});

const timings = { ...defaultTimings, restartFirstMs: 1000, maxRestartMs: 300_000, maxPauseAfterReadyMs: 10_000 };

test.each([
  ["was ready is away no longer than a request may cause", true, [500, 1000, 2000, 4000, 5000, 5000]],
  ["was never ready waits longer every time", false, [500, 1000, 2000, 4000, 8000, 16_000]],
])("an engine that dies again and again and %s", (_title, wasReady, waits) => {
  const crashes = new CrashCount({ timings, random: () => 0.5 });
  const seen = waits.map(() => {
    if (wasReady) crashes.noteReady();
    crashes.noteCrash();
    return crashes.waitMs(false);
  });
  expect(seen).toEqual(waits);
});
