import { array, assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { monthOf, startOfMonth, startOfNextMonth } from "./month.ts";

test("the month of a time is that of its UTC date, whatever the call before it was", () => {
  const times = array(integer({ min: 0, max: Date.parse("2100-01-01") }));
  assert(
    property(times, (all) => {
      for (const ms of all) expect(monthOf(ms)).toBe(new Date(ms).toISOString().slice(0, 7));
    }),
  );
});

test("a month begins with its first millisecond and ends before the first one of the next", () => {
  const [from, to] = [Date.parse("2026-11-01"), Date.parse("2026-12-01")];
  expect([startOfMonth(from + 1), startOfNextMonth(from + 1)]).toEqual([from, to]);
  expect([from - 1, from, to - 1, to].map(monthOf)).toEqual(["2026-10", "2026-11", "2026-11", "2026-12"]);
});
