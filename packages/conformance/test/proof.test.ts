import { expect, test } from "vitest";
import { levels } from "../src/contract/contract.ts";
import { selectClauses } from "../src/contract/select-clauses.ts";
import { assess, exitCodeOf } from "../src/run/assess.ts";
import { judge, collect, runProfileOf } from "../mutants/judge.ts";
import { startRelay } from "../mutants/legal-relay.ts";
import { legalVariations } from "../mutants/legal.ts";
import { degenerateServers, startDegenerate } from "../mutants/degenerate-servers.ts";
import { startSubject } from "../mutants/subject.ts";

const mostLevels = ["core", "stream", "tools", "structured", "logprobs"] as const;

test.each([false, true])(
  "the reference server keeps every clause, in an exhaustive run: %s",
  async (isExhaustive) => {
    await using server = await startSubject();
    const { verdicts } = await judge({ server, levels, isExhaustive, budgetMs: 180_000 });
    const open = verdicts.filter(({ state }) => state !== "PASS");
    // The reference server writes a long answer within milliseconds, so nothing shows whether its streams are held back.
    expect(open.map(({ clause, state }) => `${state} ${clause.id}`)).toEqual(["NOT_APPLICABLE STRM-44"]);
  },
  200_000,
);

test.each(legalVariations)(
  "$title is legal and fails no clause",
  async ({ mutant, spelling, isForOthers }) => {
    await using server = await startSubject(mutant);
    await using relay = await startRelay(server.baseUrl, spelling ?? {});
    const base = isForOthers ? "openai" : "parley";
    const clauses = selectClauses(base, []);
    const subject = {
      ...server,
      baseUrl: spelling ? relay.baseUrl : server.baseUrl,
      profile: { ...server.profile, capabilities: ["greedy", "guided"] as const },
    };
    const judging = { server: subject, levels: spelling ? (["core", "stream"] as const) : mostLevels };
    const profile = { ...runProfileOf(judging), base, ...(clauses && { clauses }) } as const;
    const { verdicts } = assess(await collect(judging), profile);
    const failed = verdicts.filter(({ state }) => ["FAIL", "WARN", "ERROR"].includes(state));
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
