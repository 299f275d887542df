import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

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
