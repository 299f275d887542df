import { expect, test } from "vitest";
import { selectClauses } from "../../src/contract/select-clauses.ts";
import { assess } from "../../src/run/assess.ts";
import { collect, runProfileOf } from "../../mutants/judge.ts";
import { startRelay } from "../../mutants/legal-relay.ts";
import { legalVariations } from "../../mutants/legal.ts";
import { startSubject } from "../../mutants/subject.ts";

const mostLevels = ["core", "stream", "tools", "structured", "logprobs"] as const;

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
