import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { unchecked } from "../src/clauses/test-groups.ts";
import { clauses, levels } from "../src/contract/contract.ts";
import { assess, exitCodeOf } from "../src/run/assess.ts";
import { judge, gather, profileOf } from "../mutants/judge.ts";
import { kill, planted } from "../mutants/kill.ts";
import type { Kill } from "../mutants/kill.ts";
import { legal } from "../mutants/legal.ts";
import { lobotomized, startStub } from "../mutants/lobotomized.ts";
import { startSubject } from "../mutants/subject.ts";

// What the kill matrix says was made by `mutants/kill-matrix.ts`.
const matrix = JSON.parse(
  readFileSync(new URL("../mutants/kill-matrix.json", import.meta.url), "utf8"),
) as readonly Kill[];

describe("the kill matrix", () => {
  test("has a mutant for every fault that a clause names, but for clauses without a check", () => {
    const reasonless = new Set(unchecked.map(({ clause }) => clause));
    const faults = clauses.filter(({ id }) => !reasonless.has(id)).flatMap((clause) => clause.faults);
    expect(planted.map(({ fault }) => fault)).toEqual(faults);
    expect(matrix.map(({ fault }) => fault)).toEqual(faults);
  });

  test("has no survivor", () => {
    expect(matrix.filter(({ clause, fell }) => !fell.includes(clause)).map(({ fault }) => fault)).toEqual([]);
  });
});

const declared = new Map(matrix.map((one) => [one.fault, one]));

/** Faults whose requests take no time; the others are killed when the matrix is made. */
const quick = planted.filter(({ clause }) => clause.model === "any" && ["core", "stream"].includes(clause.level));

test.each(quick.filter((_, index) => index % 4 === 0))(
  "$fault is killed, and nothing falls with it that is not declared",
  async ({ fault, clause, mutant }) => {
    const { fell } = await kill(clause.id, mutant);
    expect(fell).toContain(clause.id);
    const extra = fell.filter((id) => declared.get(fault)?.fell.includes(id) !== true);
    expect(extra).toEqual([]);
  },
);

test.each([false, true])(
  "the reference server keeps every clause, in a thorough run: %s",
  async (isThorough) => {
    await using server = await startSubject();
    const { verdicts } = await judge({ server, levels, isThorough, budgetMs: 180_000 });
    const open = verdicts.filter(({ state }) => state !== "PASS");
    expect(open.map(({ clause, state, note }) => `${state} ${clause.id} ${note}`)).toEqual([]);
  },
  200_000,
);

test.each(Object.entries(legal))(
  "%s is no reason for an alarm",
  async (_title, mutant) => {
    await using server = await startSubject(mutant);
    const subject = { ...server, claims: { ...server.claims, abilities: ["greedy", "guided"] as const } };
    const { verdicts } = await judge({ server: subject, levels: ["core", "stream", "tools", "logprobs"] });
    const fallen = verdicts.filter(({ state }) => !["PASS", "NOT_APPLICABLE"].includes(state));
    expect(fallen.map(({ clause, note }) => `${clause.id} ${note}`)).toEqual([]);
  },
  120_000,
);

test.each(Object.entries(lobotomized))(
  "%s passes nothing, and does not hold the suite up",
  async (_title, stub) => {
    await using server = await startStub(stub);
    const secrets = new Map([["key", "lobotomized-Qx7Lm2Vz9"]]);
    const judging = {
      server: { baseUrl: server.baseUrl, secrets, claims: { model: "a/b" } },
      levels,
      deadlineMs: 400,
      budgetMs: 12_000,
    };
    const begunMs = performance.now();
    const evidence = await gather(judging).catch(() => undefined);
    expect(performance.now() - begunMs).toBeLessThan(16_000);
    if (!evidence) return;
    const assessment = assess(evidence, profileOf(judging));
    const passed = assessment.verdicts.filter(({ state }) => state === "PASS");
    expect(passed.map(({ clause, note }) => `${clause.id} ${note}`)).toEqual([]);
    expect(assessment.verdicts.filter(({ state }) => state === "ERROR").map(({ note }) => note)).toEqual([]);
    expect(exitCodeOf(assessment)).not.toBe(0);
  },
  30_000,
);
