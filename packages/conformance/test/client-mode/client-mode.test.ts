import { describe, expect, test } from "vitest";
import { judgeClient } from "../../src/client-mode/judge-client.ts";
import type { ClauseResult } from "../../src/client-mode/judge-client.ts";
import { clientClauses } from "../../src/client-mode/clauses/index.ts";
import { openToy } from "./toy-client.ts";
import type { Parts } from "./toy-client.ts";
import { faults } from "./toy-faults.ts";

const judgeToy = (
  parts: Partial<Parts>,
  { only, ...limits }: { readonly only?: readonly string[]; readonly maxLimitMs?: number } = {},
): Promise<ClauseResult[]> =>
  judgeClient({ openAdapter: () => openToy(parts), jobs: 8, startLimitMs: 10_000, ...limits, ...(only && { only }) });

const statesOf = (results: readonly ClauseResult[]): [string, string][] =>
  results.map(({ clause, state, cases }) => [
    clause.id,
    state === "PASS"
      ? state
      : `${state} ${JSON.stringify(cases.flatMap(({ name, expected, actual }) => (expected ? [name, expected, actual] : [])))}`,
  ]);

test("a sound toy keeps every clause; it offers no gzip", async () => {
  const states = statesOf(await judgeToy({}));
  const expected = clientClauses.map(({ id }) => [id, id === "CLNT-12" ? "NOT_APPLICABLE []" : "PASS"]);
  expect(states).toEqual(expected);
});

describe.concurrent("a broken toy breaks the clause of its fault", () => {
  test.each(faults)("%s: %s", { timeout: 60_000 }, async (clause, _fault, parts) => {
    const [result] = await judgeToy(parts, { only: [clause], maxLimitMs: 8000 });
    expect(result?.state).toMatch(/^(FAIL|WARN)$/);
  });
});
