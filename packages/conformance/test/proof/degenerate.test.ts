import { expect, test } from "vitest";
import { levels } from "../../src/contract/contract.ts";
import { assess, exitCodeOf } from "../../src/run/assess.ts";
import { collect, runProfileOf } from "../../mutants/judge.ts";
import { degenerateServers, startDegenerate } from "../../mutants/degenerate-servers.ts";

test.concurrent.each(Object.entries(degenerateServers))(
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
    expect(performance.now() - begunMs).toBeLessThan(20_000);
    const assessment = assess(evidence, runProfileOf(judging));
    const passed = assessment.verdicts.filter(({ state }) => state === "PASS");
    expect(passed.map(({ clause, note }) => `${clause.id} ${note}`)).toEqual([]);
    expect(assessment.verdicts.filter(({ state }) => state === "ERROR").map(({ note }) => note)).toEqual([]);
    expect(exitCodeOf(assessment)).not.toBe(0);
  },
  30_000,
);
