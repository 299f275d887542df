import { describe, expect, test } from "vitest";
import { judge, runProfileOf } from "../mutants/judge.ts";
import type { Subject } from "../mutants/judge.ts";
import { ordinaryServer } from "../mutants/ordinary-server.ts";
import { startSubject } from "../mutants/subject.ts";
import { checks } from "../src/clauses/test-groups.ts";
import { clauseOf, clauses, levels } from "../src/contract/contract.ts";
import type { Level } from "../src/contract/contract.ts";
import type { RunProfile } from "../src/profile.ts";
import { assess, exitCodeOf } from "../src/run/assess.ts";
import { collectEvidence } from "../src/run/collect-evidence.ts";
import { checksFor } from "../src/run/plan.ts";
import { profileNames, selectClauses, selectors } from "../src/contract/select-clauses.ts";

const marked = clauses.filter(({ openai }) => openai !== undefined).map(({ id }) => id);

describe("the clauses of a run", () => {
  test("are all of the contract by default, and those with a mark for the profile openai", () => {
    expect(selectClauses("parley", [{}])).toBeUndefined();
    expect(selectClauses("openai", [])).toEqual(marked);
    expect(marked.length).toBeGreaterThan(20);
    for (const id of marked) expect(selectClauses("openrouter-provider", [])).toContain(id);
  });

  test.each([
    ["an id", { only: ["strm-04"] }, ["STRM-04"]],
    ["a chapter", { only: ["LOGP"], skip: ["scripted"] }, clausesWhere((id) => /^LOGP-(?!10)/.test(id))],
    ["a level", { only: ["tools"], skip: ["TOOL", "STRM"] }, ["MSG-16", "MSG-17", "MSG-22"]],
    ["a keyword", { only: ["should"], skip: ["ops", "core", "sampling"] }, ["STRM-44", "LIM-11"]],
  ])("are chosen by %s", (_title, selection, want) => {
    expect(selectClauses("parley", [selection])).toEqual(want);
  });

  test("need every selection, of a profile and of the command line", () => {
    expect(selectClauses("openai", [{ include: ["MODL-02"] }, { only: ["MODL-02", "MODL-03"] }])).toEqual(["MODL-02"]);
  });

  test("have selectors that each select a clause", () => {
    for (const selector of selectors) expect(selectClauses("parley", [{ only: [selector] }])).not.toEqual([]);
  });
});

function clausesWhere(isWanted: (id: string) => boolean): string[] {
  return clauses.map(({ id }) => id).filter(isWanted);
}

test("every profile judges by clauses that have a check", () => {
  const judged = new Set(checks.map(({ clause }) => clause));
  for (const name of profileNames) expect(selectClauses(name, [])?.filter((id) => !judged.has(id)) ?? []).toEqual([]);
});

test("a clause without a mark has no verdict for SDKs, and one with a mark has", async () => {
  await using server = await startSubject();
  const { verdicts } = await judge({ server, levels: ["core"] });
  const claimed = verdicts.filter(({ state }) => state !== "NOT_APPLICABLE");
  expect(claimed.length).toBeGreaterThan(100);
  for (const { clause, interop } of claimed)
    expect([clause.id, interop !== undefined]).toEqual([clause.id, marked.includes(clause.id)]);
});

test("the profile openai judges only the part of a clause that every server owes", async () => {
  // The message is there, the id of the request and the code are not.
  await using server = await startSubject({
    reply: (reply) => (reply.status >= 400 ? { ...reply, body: JSON.stringify({ error: { message: "no" } }) } : reply),
  });
  const base = runProfileOf({ server, levels: ["core"] });
  const ids = ["ERR-01", "AUTH-01", "MODL-11"];
  const verdictsFor = async (name: "parley" | "openai"): Promise<readonly string[]> => {
    const profile = { ...base, base: name, clauses: ids };
    const evidence = await collectEvidence({ profile, secrets: server.secrets, deadlineMs: 5000, budgetMs: 30_000 });
    return assess(evidence, profile).verdicts.map(({ state }) => state);
  };
  expect(await verdictsFor("parley")).toEqual(["FAIL", "FAIL", "FAIL"]);
  expect(await verdictsFor("openai")).toEqual(["PASS", "PASS", "PASS"]);
});

describe("the profile openai", () => {
  test("finds no fault in an ordinary server, whose clauses are all judged but for those that need more", async () => {
    await using server = await startSubject(ordinaryServer);
    const profile = openaiProfileOf(server);
    const assessment = assess(await collectEvidence({ profile, ...bounds(server) }), profile);
    const broken = assessment.verdicts.filter(({ state }) => !["PASS", "UNTESTABLE", "NOT_APPLICABLE"].includes(state));
    expect(broken.map(({ clause, note }) => `${clause.id} ${note}`)).toEqual([]);
    expect(exitCodeOf(assessment)).toBe(0);
    expect(assessment.verdicts.filter(({ state }) => state === "PASS").length).toBeGreaterThan(20);
  });

  test("leaves a level out that the service refuses, unless it is claimed", async () => {
    await using server = await startSubject({
      ...ordinaryServer,
      violation: (found, body) =>
        body["tools"] === undefined ? found : { status: 400, code: "x", param: null, message: "no tools here" },
    });
    const profile = openaiProfileOf(server);
    const statesWith = async (presumed: readonly Level[]): Promise<Record<string, string>> => {
      const own = { ...profile, presumed, clauses: ["TOOL-03"] };
      const { verdicts } = assess(await collectEvidence({ profile: own, ...bounds(server) }), own);
      return Object.fromEntries(verdicts.map(({ clause, state }) => [clause.id, state]));
    };
    expect(await statesWith(["tools"])).toEqual({ "TOOL-03": "UNTESTABLE" });
    expect(await statesWith([])).toEqual({ "TOOL-03": "FAIL" });
  });
});

const bounds = ({ secrets }: Subject) => ({ secrets, deadlineMs: 20_000, budgetMs: 60_000 });
const openaiProfileOf = (server: Subject): RunProfile => ({
  ...runProfileOf({ server, levels }),
  base: "openai",
  presumed: levels,
  clauses: marked,
});

test("an unknown id is shown to get 404 only if a listed id is found", async () => {
  await using server = await startSubject({
    reply: (reply, head) => (/\/models\/./.test(head.path) ? { ...reply, status: 404 } : reply),
  });
  const clause = clauseOf.get("MODL-11");
  const profile = { ...runProfileOf({ server, levels: ["core"] }), base: "openai" as const, clauses: ["MODL-11"] };
  const evidence = await collectEvidence({ profile, secrets: server.secrets, deadlineMs: 5000, budgetMs: 30_000 });
  expect(assess(evidence, profile).verdicts).toMatchObject([{ clause, state: "UNTESTABLE" }]);
  expect(checksFor(profile)).toHaveLength(1);
});
