import { describe, expect, test } from "vitest";
import { duties, maxStreams, within } from "../duty.ts";
import { figuresOf } from "../figures.ts";
import { compareWithAims } from "../report/aims.ts";
import { compareResults } from "../report/compare.ts";
import { writePage } from "../report/page.ts";
import { writePlot } from "../report/plot.ts";
import { median } from "../report/result.ts";
import type { BenchResult, FigureResult } from "../report/result.ts";

type Values = FigureResult["values"];

function resultOf(values: Readonly<Record<string, Values>>): BenchResult {
  const figures = figuresOf(duties.full)
    .filter(({ id }) => id in values)
    .map((figure) => ({ ...figure, values: values[figure.id] ?? {} }));
  const subjects = ["direct", "node", "parley-chat"].map((name) => ({ name, title: `<${name}>` }));
  const head = { date: "2026-11-24T00:00:00.000Z", commit: "abc1234", isChanged: false, duty: "full", rounds: 2 };
  return { ...head, machine: "a machine", subjects, figures, missing: ["nginx: it is not here"] };
}

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 2, 3], 2.5],
])("the median of %j is %d", (values, want) => expect(median(values)).toBe(want));

describe("the page", () => {
  const page = writePage(resultOf({ plain: { node: [50, 54], "parley-chat": [208, 208] } }));
  test("has medians with their spread, and a dash for what was not measured", () => {
    expect(page).toContain("| CPU-µs | – | 52.0 (50.0–54.0) | 208.0 |");
  });
  test("sets them beside the aims, and says what is missing", () => {
    expect(page).toContain("| ≤ 3 | 4.00 (missed) |");
    expect(page).toContain("- nginx: it is not here");
  });
});

test("differences and bests are aims as well", () => {
  const rows = compareWithAims(
    resultOf({ answer: { direct: [1], "parley-chat": [1.25] }, requests: { node: [300], "parley-chat": [200] } }),
  );
  expect(rows.map(({ measured, isMet }) => [measured.toFixed(2), isMet])).toEqual([
    ["0.25", true],
    ["0.67", false],
  ]);
});

describe("the cost of tracing", () => {
  test("is the median of the ratios of each round, because the machine was faster in some of them", () => {
    const result = resultOf({ plain: { "parley-ids": [100, 200], "parley-traced": [102, 206] } });
    expect(compareWithAims(result).map(({ measured, isMet }) => [measured.toFixed(3), isMet])).toEqual([
      ["1.025", true],
    ]);
    expect(writePage(result)).toContain("| ≤ 1.03 | 1.025 (1.020–1.030) |");
  });
  test("is the ratio of the medians if a round failed", () => {
    const rows = compareWithAims(resultOf({ stream: { "parley-ids": [100], "parley-traced": [100, 110] } }));
    expect(rows.map(({ measured, isMet }) => [measured.toFixed(3), isMet])).toEqual([["1.050", false]]);
  });
});

describe("a comparison with an earlier run", () => {
  const then = resultOf({
    plain: { node: [50], "parley-chat": [150] },
    requests: { node: [300], "parley-chat": [300] },
  });
  test("leaves out a slower machine", () => {
    const now = resultOf({ plain: { node: [100], "parley-chat": [300] } });
    expect(compareResults(now, then)).toMatch(/<node>.*\+100 %, worse/);
    expect(compareResults(now, then)).not.toContain("parley");
  });
  test("names what costs more, and what answers less", () => {
    const now = resultOf({ plain: { node: [50], "parley-chat": [200] }, requests: { "parley-chat": [200] } });
    expect(compareResults(now, then)).toContain("+33 %, worse");
    expect(compareResults(now, then)).toContain("-33 %, worse");
  });
  test("says so when nothing changed", () => expect(compareResults(then, then)).toContain("- nothing"));
});

test("the plot has a bar for each subject, and names are escaped", () => {
  const plot = writePlot(resultOf({ plain: { node: [50, 54], "parley-chat": [200] } }));
  expect(plot.match(/<rect x=/g)).toHaveLength(2);
  expect(plot).toContain("&lt;node>");
});

test("streams stay within the open files that the shell allows", () => {
  expect(maxStreams(20_000)).toBe(9500);
  expect(within(duties.full, 2000)).toMatchObject({ burst: 500, silentStreams: 500, broken: 500, manyStreams: 500 });
});
