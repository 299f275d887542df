import { expect, test } from "vitest";
import { RefusalSample } from "./refusal-sample.ts";

test("600 lines a minute are written, and the first of the next minute has the number that was left out", () => {
  let now = 0;
  const sample = new RefusalSample(() => now);
  const written = Array.from({ length: 1000 }, () => sample.next()).filter((leftOut) => leftOut !== undefined);
  expect(written).toEqual(Array.from({ length: 600 }, () => 0));
  now = 59_999;
  expect(sample.next()).toBeUndefined();
  now = 60_000;
  expect([sample.next(), sample.next()]).toEqual([401, 0]);
});
