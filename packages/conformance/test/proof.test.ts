import { expect, test } from "vitest";
import { levels } from "../src/contract/contract.ts";
import { assess, exitCodeOf } from "../src/run/assess.ts";
import { judge, collect, runProfileOf } from "../mutants/judge.ts";
import { legal } from "../mutants/legal.ts";
import { degenerateServers, startDegenerate } from "../mutants/degenerate-servers.ts";
import { startSubject } from "../mutants/subject.ts";

test.each([false, true])(
  "the reference server keeps every clause, in an exhaustive run: %s",
  async (isExhaustive) => {
    await using server = await startSubject();
    const { verdicts } = await judge({ server, levels, isExhaustive, budgetMs: 180_000 });
    const open = verdicts.filter(({ state }) => state !== "PASS");
    expect(open.map(({ clause, state, note }) => `${state} ${clause.id} ${note}`)).toEqual([]);
  },
  200_000,
);

test.each(Object.entries(legal))(
  "%s is legal and fails no clause",
  async (_title, mutant) => {
    await using server = await startSubject(mutant);
    const subject = { ...server, profile: { ...server.profile, capabilities: ["greedy", "guided"] as const } };
    const { verdicts } = await judge({ server: subject, levels: ["core", "stream", "tools", "logprobs"] });
    const failed = verdicts.filter(({ state }) => !["PASS", "NOT_APPLICABLE"].includes(state));
    expect(failed.map(({ clause, note }) => `${clause.id} ${note}`)).toEqual([]);
  },
  120_000,
);

test.each(Object.entries(degenerateServers))(
  "%s passes nothing and does not block the suite",
  async (_title, stub) => {
    await using server = await startDegenerate(stub);
    const secrets = new Map([["key", "degenerate-Qx7Lm2Vz9"]]);
    const judging = {
      server: { baseUrl: server.baseUrl, secrets, profile: { model: "a/b" } },
      levels,
      deadlineMs: 400,
      budgetMs: 12_000,
    };
    const begunMs = performance.now();
    const evidence = await collect(judging);
    expect(performance.now() - begunMs).toBeLessThan(16_000);
    const assessment = assess(evidence, runProfileOf(judging));
    const passed = assessment.verdicts.filter(({ state }) => state === "PASS");
    expect(passed.map(({ clause, note }) => `${clause.id} ${note}`)).toEqual([]);
    expect(assessment.verdicts.filter(({ state }) => state === "ERROR").map(({ note }) => note)).toEqual([]);
    expect(exitCodeOf(assessment)).not.toBe(0);
  },
  30_000,
);
