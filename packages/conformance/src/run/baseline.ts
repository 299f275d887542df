import type { Verdict } from "./verdict.ts";

/** Known failures that are allowed, each with its reason and the last day on which it is allowed. */
export interface Baseline {
  readonly known: readonly { readonly clause: string; readonly reason: string; readonly expires: string }[];
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
  return verdict.state === "PASS"
    ? { ...verdict, state: "XPASS", note: "it passes again: remove it from the baseline" }
    : verdict;
}
