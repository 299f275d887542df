import { expect, test } from "vitest";
import { CrashCount } from "./crash-count.ts";
import { defaultTimings } from "./timings.ts";

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
