import { expect, test } from "vitest";
import { judge } from "../mutants/judge.ts";
import type { Mutant } from "../mutants/reference/mutant.ts";
import { completed, lacking, misreported } from "../mutants/seeded-bugs/mutate.ts";
import { startSubject } from "../mutants/subject.ts";
import type { Assessment } from "../src/run/verdict.ts";

const levels = ["core", "stream"] as const;

async function assessmentOf(mutant: Mutant, model?: string): Promise<Assessment> {
  await using server = await startSubject(mutant);
  const profile = {
    ...server.profile,
    capabilities: ["greedy", "guided"] as const,
    ...(model !== undefined && { model }),
  };
  return await judge({ server: { ...server, profile }, levels });
}

const failedIn = ({ verdicts }: Assessment): number => verdicts.filter(({ violation }) => violation).length;

const oneThing: readonly (readonly [title: string, mutant: Mutant, maxCauses: number, clause: string])[] = [
  [
    "a 417 of the HTTP library without a body",
    { early: (head) => (head.headers["expect"] === undefined ? undefined : { status: 417, headers: {}, body: "" }) },
    1,
    "ERR-01",
  ],
  ["an answer without usage", completed((json) => lacking(json, "usage")), 1, "RESP-02"],
  ["an error without a code", misreported((error) => ({ ...error, code: null })), 1, "ERR-06"],
];

test.each(oneThing)("%s is one cause, with the clauses that also fail", async (_title, mutant, maxCauses, clause) => {
  const found = await assessmentOf(mutant);
  expect(failedIn(found)).toBeGreaterThan(maxCauses);
  expect(found.causes.length).toBeLessThanOrEqual(maxCauses);
  expect(found.causes.map((one) => one.clause)).toContain(clause);
  expect(found.causes.flatMap(({ clause: first, also }) => [first, ...also])).toHaveLength(failedIn(found));
});

test("a model that the service does not have is one cause of most failures", async () => {
  const found = await assessmentOf({}, "no/such-model");
  const [first] = found.causes.toSorted((one, other) => other.also.length - one.also.length);
  expect(first?.cause).toMatch(/^404 with the message/);
  expect(first?.also.length).toBeGreaterThan(failedIn(found) * 0.7);
});

test("two bugs of one answer stay two causes", async () => {
  const found = await assessmentOf(completed((json) => ({ ...json, created: 1, id: "x" })));
  expect(found.causes.map(({ clause }) => clause).toSorted()).toEqual(["RESP-02", "RESP-03"]);
});
