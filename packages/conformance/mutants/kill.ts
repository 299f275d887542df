import { checks } from "../src/clauses/test-groups.ts";
import { clauses, levels } from "../src/contract/contract.ts";
import type { Clause } from "../src/contract/contract.ts";
import { assess } from "../src/run/assess.ts";
import { collect, runProfileOf } from "./judge.ts";
import type { Mutant } from "./reference/mutant.ts";
import { seededBugs } from "./seeded-bugs/index.ts";
import { startSubject } from "./subject.ts";

/** The reference server with one bug, by the name that the clause gives the bug. */
export interface SeededMutant {
  readonly bug: string;
  readonly clause: Clause;
  readonly mutant: Mutant;
}

/** The result of judging one mutant. */
export interface Kill {
  readonly bug: string;
  /** The clause that the bug breaks. */
  readonly clause: string;
  /** Clauses that failed. The mutant is killed when its own clause is among them. */
  readonly killedBy: readonly string[];
  /** Present where a short run does not send the case that shows the bug. */
  readonly isExhaustive?: true;
}

/** A mutant for every bug that a clause names. */
export const allMutants: readonly SeededMutant[] = clauses.flatMap((clause) =>
  clause.faults.flatMap((bug) => {
    const mutant = seededBugs[bug];
    return mutant ? [{ bug, clause, mutant }] : [];
  }),
);

/** Steps that keep a processor busy for seconds, or measure pauses of less than a second. */
const demanding = new Set([
  "a reader that takes nothing",
  "a paced stream",
  "a silence",
  "a slow start",
  "short and long answers",
]);

/** Returns whether a mutant must be judged alone, because its clause uses such a step. */
export const runsAlone = ({ clause }: SeededMutant): boolean =>
  checks.some((check) => check.clause === clause.id && check.uses.some((step) => demanding.has(step)));

/** Clauses whose requests are sent with every mutant, so that a test sees which other clauses fail with it. */
const companions = new Set(["RESP-02", "RESP-11", "STRM-11", "STRM-18", "AUTH-08", "ERR-02", "MODL-01"]);

/**
 * Judges a mutant: sends the requests of its clause and of the companions, and asks every check. A short run comes first,
 * as a partner would have it; an exhaustive one follows where the short one did not send the case.
 */
export async function kill({ bug, clause: { id }, mutant }: SeededMutant): Promise<Kill> {
  const killedBy = await failedClauses(id, mutant, false);
  return killedBy.includes(id)
    ? { bug, clause: id, killedBy }
    : { bug, clause: id, killedBy: await failedClauses(id, mutant, true), isExhaustive: true };
}

async function failedClauses(clause: string, mutant: Mutant, isExhaustive: boolean): Promise<readonly string[]> {
  await using server = await startSubject(mutant);
  const own = checks.filter((check) => check.clause === clause || companions.has(check.clause));
  const judging = { server, levels, checks: own, isExhaustive, deadlineMs: 15_000, budgetMs: 120_000 };
  const { verdicts } = assess(await collect(judging), runProfileOf(judging));
  return verdicts.filter(({ state }) => state === "FAIL" || state === "WARN").map(({ clause: { id } }) => id);
}
