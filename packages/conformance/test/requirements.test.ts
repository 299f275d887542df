import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checksDigest, digestOf, killsOf } from "../mutants/freeze-requirements.ts";
import { readMatrix } from "../mutants/matrix.ts";
import { clauseOf } from "../src/contract/contract.ts";
import { readSet, setNames } from "../src/contract/requirements.ts";
import { selectClauses } from "../src/contract/select-clauses.ts";
import { checksOf } from "../src/run/plan.ts";

const read = (name: string): string => readFileSync(new URL(`../requirements/${name}`, import.meta.url), "utf8");

test("there is a set, and each has a chapter in the changelog", () => {
  expect(setNames()).toContain("2026-12");
  for (const name of setNames()) expect(read("CHANGELOG.md")).toContain(`\n## ${name}\n`);
});

describe.each(setNames())("the set %s never changes", (name) => {
  const { clauses } = readSet(name);

  test("in its file", () => {
    expect(read("CHANGELOG.md")).toContain(`\nDigest of ${name}: ${digestOf(read(`${name}.json`))}\n`);
  });

  test("in its clauses: each is still in the contract, with its keyword, level and model", () => {
    for (const { id, keyword, level, model } of clauses)
      expect(clauseOf.get(id)).toMatchObject({ keyword, level, model });
  });

  test("in its checks: each does what it did, with the same requests", () => {
    const changed = clauses.filter(({ id, checks }) => {
      const clause = clauseOf.get(id);
      return clause === undefined || checksDigest(clause, name) !== checks;
    });
    expect(changed.map(({ id }) => id)).toEqual([]);
  });

  test("in its verdicts: the seeded bugs of its time still break the same clauses", () => {
    const { kills } = readMatrix();
    const known = new Set(clauses.flatMap((clause) => clause.kills));
    const turned = clauses.filter(({ id, kills: frozen }) => {
      const clause = clauseOf.get(id);
      const now = clause ? killsOf(clause, kills).filter((bug) => known.has(bug)) : [];
      return now.toSorted().join() !== frozen.toSorted().join();
    });
    expect(turned.map(({ id }) => id)).toEqual([]);
  });
});

test("a set has its own clauses and marks, whatever the contract has today", () => {
  const frozen = readSet("2026-12")
    .clauses.slice(0, 3)
    .map((clause, index) => ({ ...clause, openai: index === 1 }));
  expect(selectClauses("parley", [{ frozen }])).toEqual(frozen.map(({ id }) => id));
  expect(selectClauses("openai", [{ frozen }])).toEqual([frozen[1]?.id]);
});

test("a set has the checks of its time", () => {
  const clause = clauseOf.get("HTTP-01");
  if (!clause) throw new Error("no HTTP-01");
  expect(checksOf(clause, false, "2026-12")).toEqual(checksOf(clause, false));
  expect(checksOf(clause, false).length).toBeGreaterThan(0);
});
