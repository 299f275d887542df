import { checks } from "../src/clauses/test-groups.ts";
import { clauses, levels } from "../src/contract/contract.ts";
import type { Clause } from "../src/contract/contract.ts";
import { assess } from "../src/run/assess.ts";
import { faults } from "./faults/index.ts";
import { gather, profileOf } from "./judge.ts";
import type { Mutant } from "./reference/mutant.ts";
import { startSubject } from "./subject.ts";

/** A fault of the contract, the clause that it breaks, and what fell when the reference server had it. */
export interface Kill {
  readonly fault: string;
  readonly clause: string;
  readonly fell: readonly string[];
  /** Present where a short run does not send the case that shows it. */
  readonly isThorough?: true;
}

/** Every planted fault with its clause. */
export const planted: readonly { readonly fault: string; readonly clause: Clause; readonly mutant: Mutant }[] =
  clauses.flatMap((clause) =>
    clause.faults.flatMap((fault) => {
      const mutant = faults[fault];
      return mutant ? [{ fault, clause, mutant }] : [];
    }),
  );

/** Clauses whose requests are sent with every mutant, so that what falls beside its own clause is seen. */
const companions = new Set(["RESP-02", "RESP-11", "STRM-11", "STRM-18", "AUTH-08", "ERR-02", "MODL-01"]);

/**
 * Judges the reference server with a fault: the requests of its clause and of the companions, by every check there is. A
 * short run comes first, as a partner would have it; a thorough one where that did not send the case.
 */
export async function kill(clause: string, mutant: Mutant): Promise<Pick<Kill, "fell" | "isThorough">> {
  const fell = await fallen(clause, mutant, false);
  return fell.includes(clause) ? { fell } : { fell: await fallen(clause, mutant, true), isThorough: true };
}

async function fallen(clause: string, mutant: Mutant, isThorough: boolean): Promise<readonly string[]> {
  await using server = await startSubject(mutant);
  const own = checks.filter((check) => check.clause === clause || companions.has(check.clause));
  const judging = { server, levels, checks: own, isThorough, deadlineMs: 15_000, budgetMs: 120_000 };
  const evidence = await gather(judging);
  const { verdicts } = assess(evidence, profileOf(judging));
  return verdicts.filter(({ state }) => state === "FAIL" || state === "WARN").map(({ clause: one }) => one.id);
}
