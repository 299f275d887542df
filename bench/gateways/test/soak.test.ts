import { expect, test } from "vitest";
import { growthOf, writeSoak } from "../soak.ts";
import type { Sample } from "../soak.ts";

const samplesOf = (bytesAt: (minutes: number) => number): Sample[] =>
  Array.from({ length: 60 }, (_, at) => ({ minutes: (at + 1) / 2, bytes: bytesAt((at + 1) / 2), answers: at }));

test("growth is that behind the warm-up, in ten minutes", () => {
  expect(growthOf(samplesOf((minutes) => 1e8 + 50_000 * minutes))).toBeCloseTo(500_000);
  expect(growthOf(samplesOf((minutes) => (minutes < 10 ? 1e7 * minutes : 1e8)))).toBeCloseTo(0);
});

test("a soak that was stopped at once says so", () => {
  expect(writeSoak({ subject: "Parley", samples: [] })).toContain("too short");
  expect(writeSoak({ subject: "Parley", samples: samplesOf(() => 1).slice(0, 1) })).toContain("too short");
});

test("the page has the least memory of each tenth", () => {
  const page = writeSoak({ subject: "Parley", samples: samplesOf((minutes) => (minutes % 1 === 0 ? 1e8 : 9e7)) });
  expect(page).toContain("| 3.0 | 90.0 | 5 |");
  expect(page.match(/^\| \d/gm)).toHaveLength(10);
});
