import { expect, test } from "vitest";
import { RefusalSample, RepeatedFaults } from "./refusal-sample.ts";

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

test("a fault is logged once in ten seconds, and the next line has the number that was left out", () => {
  let now = 0;
  const faults = new RepeatedFaults(() => now);
  expect([faults.next("full"), faults.next("full"), faults.next("gone"), faults.next("full")]).toEqual([
    0,
    undefined,
    0,
    undefined,
  ]);
  now = 10_000;
  expect([faults.next("full"), faults.next("full"), faults.next("gone")]).toEqual([2, undefined, 0]);
});

test("faults with ever new texts take a bounded memory", () => {
  const faults = new RepeatedFaults(() => 0);
  for (let index = 0; index < 150; index += 1) expect(faults.next(`text ${index}`)).toBe(0);
  expect([faults.next("text 149"), faults.next("text 0")]).toEqual([undefined, 0]);
});
