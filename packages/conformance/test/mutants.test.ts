import { describe, expect, test } from "vitest";
import { chooseMutants } from "../mutants/choose-mutants.ts";
import { allMutants, kill, runsAlone } from "../mutants/kill.ts";
import type { SeededMutant } from "../mutants/kill.ts";
import { hashOfChecksAndMutants, readMatrix } from "../mutants/matrix.ts";
import { unchecked } from "../src/clauses/test-groups.ts";
import { clauses } from "../src/contract/contract.ts";

// `mutants/kill-matrix.ts` made the kill matrix.
const { hash, kills: matrix } = readMatrix();
const declared = new Map(matrix.map((one) => [one.bug, one.killedBy]));

describe("the kill matrix", () => {
  test("has a mutant for every bug that a clause names, but for clauses without a check", () => {
    const uncheckable = new Set(unchecked.map(({ clause }) => clause));
    const bugs = clauses.filter(({ id }) => !uncheckable.has(id)).flatMap((clause) => clause.faults);
    expect(allMutants.map(({ bug }) => bug)).toEqual(bugs);
    expect(matrix.map(({ bug }) => bug)).toEqual(bugs);
  });

  test("was made by these checks and these mutants: `node mutants/kill-matrix.ts` makes it again", () => {
    expect(hash).toBe(hashOfChecksAndMutants());
  });

  test("has no survivor", () => {
    expect(matrix.filter(({ clause, killedBy }) => !killedBy.includes(clause)).map(({ bug }) => bug)).toEqual([]);
  });
});

describe("the choice of mutants", () => {
  const bugsFor = (seed: string): string[] => chooseMutants(allMutants, seed).mutants.map(({ bug }) => bug);

  test("is a quarter, the same for one seed and another for another seed", () => {
    expect(bugsFor("one")).toHaveLength(Math.ceil(allMutants.length / 4));
    expect(bugsFor("one")).toEqual(bugsFor("one"));
    expect(bugsFor("two")).not.toEqual(bugsFor("one"));
  });

  test("tries every mutant as the seeds change", () => {
    const tried = new Set(Array.from({ length: 60 }, (_, index) => bugsFor(`seed ${index}`)).flat());
    expect(tried.size).toBe(allMutants.length);
  });

  test("is every mutant for `all`, and follows the tree without a seed", () => {
    expect(bugsFor("all")).toHaveLength(allMutants.length);
    expect(chooseMutants(allMutants, undefined).seed).toMatch(/^[0-9a-f]{12}$/);
    expect(chooseMutants(allMutants, undefined)).toEqual(chooseMutants(allMutants, ""));
  });
});

const { seed, mutants } = chooseMutants(allMutants, process.env["PARLEY_MUTANTS"]);
process.stdout.write(`${mutants.length} of ${allMutants.length} mutants; again with PARLEY_MUTANTS=${seed}\n`);

/** Mutants of these levels wait for limits to refill and for deadlines to pass: they begin first. */
const waiting = new Set(["limits", "ops"]);
const ordered = mutants.toSorted(
  (one, other) => Number(waiting.has(other.clause.level)) - Number(waiting.has(one.clause.level)),
);

async function mustBeKilled(mutant: SeededMutant): Promise<void> {
  const { killedBy } = await kill(mutant);
  expect(killedBy).toContain(mutant.clause.id);
  expect(killedBy.filter((id) => declared.get(mutant.bug)?.includes(id) !== true)).toEqual([]);
}

describe(`with PARLEY_MUTANTS=${seed}`, () => {
  test.for(ordered.filter(runsAlone))(
    "$bug is killed by $clause.id, and no clause fails with it that is not declared",
    { timeout: 300_000 },
    mustBeKilled,
  );
  test.concurrent.for(ordered.filter((mutant) => !runsAlone(mutant)))(
    "$bug is killed by $clause.id, and no clause fails with it that is not declared",
    { timeout: 300_000 },
    mustBeKilled,
  );
});
