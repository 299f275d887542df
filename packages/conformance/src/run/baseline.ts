import type { Verdict } from "./verdict.ts";

/** Known failures that are allowed, each with its reason and the last day on which it is allowed. */
export interface Baseline {
  readonly known: readonly { readonly clause: string; readonly reason: string; readonly expires: string }[];
}

/** The days for which a new entry of a baseline allows its failure. */
const daysAllowed = 90;

/**
 * Returns a baseline with the failures of today. Entries of an earlier baseline stay, unless their clauses pass again.
 * @param today as YYYY-MM-DD
 */
export function baselineOf(verdicts: readonly Verdict[], earlier: Baseline | undefined, today: string): Baseline {
  const expires = new Date(Date.parse(today) + daysAllowed * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const passed = new Set(verdicts.filter(({ state }) => state === "XPASS").map(({ clause }) => clause.id));
  const kept = (earlier?.known ?? []).filter(({ clause }) => !passed.has(clause));
  const failed = verdicts
    .filter(({ state }) => state === "FAIL")
    .map(({ clause, note }) => ({ clause: clause.id, reason: `failed on ${today}: ${note.slice(0, 200)}`, expires }));
  return { known: [...kept, ...failed] };
}

/** An allowed failure is XFAIL until it expires. One that no longer fails is XPASS, so that the baseline cannot go stale. */
export function baselineState(verdict: Verdict, { known }: Baseline, today: string): Verdict {
  const entry = known.find(({ clause }) => clause === verdict.clause.id);
  if (!entry) return verdict;
  const hasFailed = verdict.state === "FAIL" || verdict.state === "WARN";
  if (hasFailed && entry.expires < today)
    return {
      ...verdict,
      note: `${verdict.note} (the baseline allowed it until ${entry.expires}: ${entry.reason})`,
    };
  if (hasFailed)
    return { ...verdict, state: "XFAIL", note: `${verdict.note} (allowed until ${entry.expires}: ${entry.reason})` };
  // Another case of the clause may still fail, so a sample of its cases does not make the entry stale.
  if (verdict.state === "PASS" && verdict.cases)
    return { ...verdict, note: `${verdict.note} (the baseline still allows a failure of its other cases)` };
  return verdict.state === "PASS"
    ? { ...verdict, state: "XPASS", note: "it passes again: remove it from the baseline" }
    : verdict;
}
