import { describe, expect, test } from "vitest";
import { judge } from "../judge-row.ts";
import type { Measured } from "../judge-row.ts";
import { notesOf, toTable, verdictOf } from "../print.ts";
import { aim, bound, figure } from "../row.ts";

const series = (...timesMs: number[]) => ({ timesMs, lost: [], unanswered: 0 });
const seen = { chat: series(5, 6, 9), health: series(2, 3), answered: ["a"] };

/** Measurements of a row that met every aim, with the given changes. */
const measured = (change: Partial<Measured> = {}): Measured => ({
  row: { name: "group/row", action: "does something", engine: "scripted" },
  alone: seen,
  attacked: seen,
  grownBytes: 1e6,
  lostEntries: 0,
  stop: { code: 0, tookMs: 200 },
  died: undefined,
  findings: [],
  ownDelayMs: 11,
  ...change,
});

const attacked = (change: Partial<Measured["attacked"]>): Partial<Measured> => ({ attacked: { ...seen, ...change } });

test("a row that changed nothing for others has met its aims", () => {
  const row = measured({ findings: [figure("a", 1), bound("b", true, 2), aim("c", true, 3)] });
  expect(judge(row)).toEqual({ stopped: [], missed: [] });
  expect(verdictOf(row)).toBe("met");
  expect(notesOf(row)).toEqual(["  seen     a: 1", "  seen     b: 2", "  seen     c: 3"]);
});

test.each<readonly [string, Partial<Measured>, RegExp]>([
  ["a slow /health", attacked({ health: series(251) }), /^\/health took 251 ms$/],
  ["a slow chat", attacked({ chat: series(5, 1001) }), /^the neighbour waited 1\.0 s$/],
  [
    "a refused chat",
    attacked({ chat: { ...seen.chat, lost: ["429 a"] } }),
    /^1 of the neighbour's requests were lost: 429 a$/,
  ],
  ["memory", { grownBytes: 301e6 }, /^memory grew by 301 MB$/],
  ["a lost entry", { lostEntries: 2 }, /^2 ledger entries were lost$/],
  ["an aim of the attack", { findings: [aim("a", false, "b")] }, /^a: b$/],
  ["a slow end", { stop: { code: 0, tookMs: 9000 } }, /^it stopped only after 9\.0 s$/],
])("%s is an aim that was missed, and stops nothing", (_what, change, sentence) => {
  const { stopped, missed } = judge(measured(change));
  expect({ stopped, missed }).toEqual({ stopped: [], missed: [expect.stringMatching(sentence)] });
});

test("a chat that takes four times as long as alone is as it should be", () => {
  const slow = { ...seen, chat: series(600) };
  expect(judge(measured({ alone: slow, ...attacked({ chat: series(2400) }) })).missed).toEqual([]);
});

test("the memory that a setting grants is added to that of a row, and is reported", () => {
  const granted = { bytes: 500e6, what: "a cache (SETTING)" };
  const row = { ...measured().row, granted };
  expect(judge(measured({ row, grownBytes: 800e6 })).missed).toEqual([]);
  expect(judge(measured({ row, grownBytes: 801e6 })).missed).toEqual(["memory grew by 801 MB"]);
  expect(notesOf(measured({ row }))).toEqual(["  granted  500 MB for a cache (SETTING)"]);
});

describe("a failure that must not happen on any machine", () => {
  test.each<readonly [string, Partial<Measured>, RegExp]>([
    ["/health after more than 5 s", attacked({ health: series(5001) }), /^\/health took 5\.0 s$/],
    ["no answer", attacked({ chat: { timesMs: [3], lost: ["reset"], unanswered: 1 } }), /got no answer 1 times: reset/],
    ["a neighbour that was not asked", attacked({ chat: series() }), /^the neighbour was not asked$/],
    ["a crash", { died: "out of memory", stop: undefined }, /^the server ended: out of memory$/],
    ["a bound that was exceeded", { findings: [bound("a", false, "b")] }, /^a: b$/],
    ["an end by force", { stop: { code: "SIGKILL", tookMs: 18_000 } }, /^SIGTERM ended it with SIGKILL after 18\.0 s$/],
  ])("%s", (_what, change, sentence) => {
    const row = measured(change);
    expect(judge(row).stopped).toEqual([expect.stringMatching(sentence)]);
    expect(verdictOf(row)).toBe("STOPPED");
    expect(toTable([row])).toMatch(/ {2}STOPPED {2}/);
  });
});
