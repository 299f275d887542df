import { expect, test } from "vitest";
import { FreeProcessors } from "./free-processors.ts";
import type { ProcessorTimes } from "./free-processors.ts";

/** Four processors that were watched for one second. Other processes used the rest of their time. */
const after = (idle: number, own: number): ProcessorTimes[] => [
  { idle: 0, own: 0, total: 0, processors: 4 },
  { idle: idle * 1000, own: own * 1000, total: 4000, processors: 4 },
];

test.each([
  ["all are idle", 4, 0, 4],
  ["all but the one that we use are idle", 3, 1, 4],
  ["others do a little", 2.9, 0.9, 4],
  ["others use two", 1, 1, 2],
  ["others use all", 0, 0, 1],
  ["we share one with others", 0, 0.5, 1],
])("%s", (_title, idle, own, want) => {
  const times = after(idle, own);
  const free = new FreeProcessors(() => times.shift() ?? { idle: 0, own: 0, total: 0, processors: 4 });
  expect(free.count()).toBe(want);
});

test("an interval that is too short keeps the last count", () => {
  const times = [...after(4, 0), { idle: 4000, own: 0, total: 4040, processors: 4 }];
  const free = new FreeProcessors(() => times.shift() ?? { idle: 0, own: 0, total: 0, processors: 4 });
  expect([free.count(), free.count()]).toEqual([4, 4]);
});

test("this machine has at least one", () => {
  expect(new FreeProcessors().count()).toBeGreaterThanOrEqual(1);
});
