import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checks } from "../src/clauses/test-groups.ts";
import { clauseOf, levels } from "../src/contract/contract.ts";
import type { Level } from "../src/contract/contract.ts";
import { exitCodeOf } from "../src/run/assess.ts";
import type { Assessment } from "../src/run/verdict.ts";
import { whyNot } from "../src/run/plan.ts";
import type { RunProfile } from "../src/profile.ts";
import { startParley } from "./parley-server.ts";
import type { ParleyServer } from "./parley-server.ts";
import { judge } from "../mutants/judge.ts";

/** The levels and capabilities claimed for each engine. Together they judge every clause that can be judged. */
const runs: readonly (readonly [engine: "scripted" | "embedded", levels: readonly Level[]])[] = [
  ["scripted", levels],
  ["embedded", ["core", "stream", "sampling", "tools", "structured", "logprobs"]],
];

// Every start waits until a key has expired, so the servers start side by side. They are judged one after the other.
let servers: readonly ParleyServer[];
beforeAll(async () => {
  servers = await Promise.all(runs.map(([engine]) => startParley(engine)));
});
afterAll(() => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())));

describe.each(runs)("Parley with the %s engine", (engine, claimed) => {
  let found: Assessment;
  beforeAll(async () => {
    const server = servers[runs.findIndex(([one]) => one === engine)];
    if (!server) throw new Error(`no server has the engine ${engine}`);
    found = await judge({ server, levels: claimed, isExhaustive: engine === "scripted" });
  }, 400_000);

  test("keeps every clause of the levels that are claimed, and leaves none untested", () => {
    const open = found.verdicts.filter(({ state }) => !["PASS", "NOT_APPLICABLE"].includes(state));
    expect(open.map(({ clause, state, note }) => `${state} ${clause.id} ${note}`)).toEqual([]);
    expect(found.faults).toEqual([]);
    expect(exitCodeOf(found)).toBe(0);
  });
});

const profileOf = (capabilities: RunProfile["capabilities"], claimed: readonly Level[]): RunProfile => ({
  ...(capabilities && { capabilities }),
  levels: claimed,
  origin: "http://127.0.0.1",
  basePath: "/v1",
  keyRoles: [],
  extraHeaders: [],
  isProbing: false,
  isExhaustive: true,
  seed: 0,
});

test("between them the two runs judge every clause that has a check", () => {
  const profiles = [profileOf(["guided", "scripted"], levels), profileOf(["greedy", "guided"], runs[1]?.[1] ?? [])];
  const unjudged = checks
    .flatMap(({ clause }) => clauseOf.get(clause) ?? [])
    .filter((clause) => profiles.every((profile) => whyNot(clause, profile) !== undefined));
  expect(unjudged.map(({ id }) => id)).toEqual([]);
});
