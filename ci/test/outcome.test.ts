import { expect, test } from "vitest";
import { outcomeOf } from "../outcome.ts";
import { isGreen, summarize } from "../summary.ts";
import { probe } from "./probe-step.ts";

const report = JSON.stringify({
  numPassedTests: 2,
  numFailedTests: 0,
  testResults: [
    {
      assertionResults: [
        { ancestorTitles: [], title: "a", status: "passed" },
        { ancestorTitles: ["in a browser (with chromium)"], title: "b", status: "skipped" },
        { ancestorTitles: ["in a browser (with chromium)"], title: "c", status: "pending" },
        { ancestorTitles: [], title: "d", status: "passed" },
      ],
    },
  ],
});
const suite = probe("", { name: "docs", counts: "vitest" });

test("tests that a suite skipped are counted, with the reason in their group's title", () => {
  expect(outcomeOf(suite, { exitCode: 0, output: "", report })).toEqual({
    passed: 2,
    failed: 0,
    skipped: [{ count: 2, reason: "in a browser (with chromium)" }],
  });
});

test("a suite that broke outside of its tests has failed", () => {
  expect(outcomeOf(suite, { exitCode: 1, output: "unhandled rejection", report })).toMatchObject({
    passed: 2,
    failed: 1,
  });
});

test("the summary names what was skipped and why, and ends with one line", () => {
  const docs = { ...outcomeOf(suite, { exitCode: 0, output: "", report }), seconds: 3 };
  const unit = { passed: 5, failed: 1, skipped: [], trouble: "x", seconds: 1 };
  const finished = new Map([
    [suite, docs],
    [probe("", { name: "unit" }), unit],
  ]);
  const text = summarize(finished, [{ step: probe("", { name: "scan" }), reason: "only the pipeline" }], 4);
  expect(text).toContain("  docs: 2 × in a browser (with chromium)\n");
  expect(text).toContain("  scan: only the pipeline\n");
  expect(text).toContain("Failed: unit;");
  expect(text.endsWith("\n7 passed, 1 failed, 3 skipped\n")).toBe(true);
  expect(isGreen(finished)).toBe(false);
  expect(isGreen(new Map([[suite, docs]]))).toBe(true);
  expect(isGreen(new Map())).toBe(false);
});
