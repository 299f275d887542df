import { expect, test } from "vitest";
import { withChoices, withHeaders, withoutHeaders } from "../mutants/seeded-bugs/mutate.ts";
import { collect, judge, runProfileOf } from "../mutants/judge.ts";
import type { Subject } from "../mutants/judge.ts";
import { startSubject } from "../mutants/subject.ts";
import { buildReport } from "../src/report/report.ts";
import { toTerminal } from "../src/report/terminal.ts";
import { assess } from "../src/run/assess.ts";
import { startParley } from "./parley-server.ts";

/** The profile of `run --level core,stream` without a conformance profile. */
const plainly = ({ baseUrl, secrets }: Subject): Subject => ({
  baseUrl,
  secrets: new Map([["key", secrets.get("key") ?? ""]]),
  profile: {},
});
const levels = ["core", "stream"] as const;

async function reportOf(subject: Subject, more: { readonly isProbing?: boolean; readonly seed?: number } = {}) {
  const judging = { server: plainly(subject), levels, ...more };
  const evidence = await collect(judging);
  const profile = runProfileOf(judging);
  return buildReport(assess(evidence, profile), evidence, profile, 0, { keyVariable: "API_KEY" });
}

test("core and stream take at most 60 requests and 600 output tokens, and the report has the figures", async () => {
  await using parley = await startParley("scripted");
  const report = await reportOf(parley);
  expect(report.run.requests).toBeLessThanOrEqual(60);
  expect(report.run.outputTokens).toBeLessThanOrEqual(600);
  expect(report.run.probes).toBe(0);
  expect(report.counts.FAIL).toBeUndefined();
  expect(toTerminal(report)).toContain(`${report.run.requests} requests, ${report.run.outputTokens} output tokens`);
}, 60_000);

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  "the cases that seed %i chooses stay within 60 requests, and every clause is kept",
  async (seed) => {
    await using reference = await startSubject();
    const { run, clauses } = await reportOf(reference, { seed });
    expect(run.requests).toBeLessThanOrEqual(60);
    const judged = clauses.filter(({ state }) => state !== "NOT_APPLICABLE" && state !== "PASS");
    const open = judged.filter(({ note }) => !note.includes("scripted engine"));
    expect(open.map(({ id, note }) => `${id} ${note}`)).toEqual([]);
  },
);

test("a verdict from a part of the cases says how many there were", async () => {
  await using reference = await startSubject();
  const report = await reportOf(reference);
  const { sampled } = report.run;
  const partial = report.clauses.filter(({ note }) => /^\d+ of \d+ cases: /.test(note));
  expect(partial.length).toBe(sampled.clauses);
  expect(sampled.tried).toBeLessThan(sampled.of);
  expect(toTerminal(report)).toContain(`${sampled.tried} of ${sampled.of} cases were tried`);
  const exhaustive = await judge({ server: plainly(reference), levels, isExhaustive: true });
  expect(exhaustive.verdicts.filter(({ cases }) => cases)).toEqual([]);
});

test("a bug that a shared request cannot attribute costs further requests, and the right clause fails", async () => {
  await using mutant = await startSubject({ flags: new Set(["expect-before-key"]) });
  const { clauses } = await reportOf(mutant);
  const failed = clauses.filter(({ state }) => state === "FAIL").map(({ id }) => id);
  expect(failed).toEqual(["AUTH-13"]);
});

test("levels that are not claimed are probed, and reported as found, not found or not shown", async () => {
  await using reference = await startSubject();
  const whole = await reportOf(reference, { isProbing: true });
  const found = Object.entries(whole.levels).filter(([, { isFound }]) => isFound);
  expect(found.map(([level]) => level)).toEqual([
    "sampling",
    "tools",
    "structured",
    "logprobs",
    "limits",
    "ops",
    "account",
    "idempotency",
  ]);
  expect(whole.run.probes).toBe(6);
  await using poor = await startSubject({
    generated: (body) => ({ ...body, tools: undefined, tool_choice: undefined, response_format: undefined }),
    ...withChoices((choice) => ({ ...choice, logprobs: null })),
    ...withHeaders((headers) => withoutHeaders(headers, (name) => name.startsWith("x-ratelimit"))),
  });
  const { levels: seen } = await reportOf(poor, { isProbing: true });
  const missing = Object.entries(seen).filter(([, { isFound }]) => isFound === false);
  expect(missing.map(([level]) => level)).toEqual(["logprobs", "limits"]);
  // The service accepted what these levels need, so its model may be to blame.
  for (const level of ["tools", "structured"] as const) {
    expect(seen[level].isFound).toBeUndefined();
    expect(seen[level].note).toMatch(/^not shown: .*; a small model may be to blame$/);
  }
});

test("without --probe a level that no request shows is reported as not probed", async () => {
  await using reference = await startSubject();
  const { levels: seen } = await reportOf(reference);
  expect(seen.limits.isFound).toBe(true);
  expect(seen.tools).toMatchObject({ isClaimed: false, note: "not probed; --probe does" });
});
