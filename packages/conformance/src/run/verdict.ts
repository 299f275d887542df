import type { Clause, Level } from "../contract/contract.ts";
import type { Cases, Unchecked } from "../judge/check.ts";
import type { Breach } from "../judge/finding.ts";

/** What became of a clause. */
export type State = "PASS" | "FAIL" | "WARN" | "NOT_APPLICABLE" | "UNTESTABLE" | "ERROR" | "XFAIL" | "XPASS";

export interface Verdict {
  readonly clause: Clause;
  readonly state: State;
  /** What mainstream SDKs find; absent where they need nothing of the clause. */
  readonly interop?: "PASS" | "FAIL" | "UNTESTABLE";
  /** What was seen, or why nothing could be. */
  readonly note: string;
  readonly breach?: Breach;
  /** Where the run tried some of the clause's cases only. */
  readonly cases?: Cases;
}

/** A level that is not claimed. */
export interface Probed {
  readonly level: Level;
  /** Undefined: nothing was sent that could tell. */
  readonly isFound?: boolean;
  readonly note: string;
}

export interface Assessment {
  readonly verdicts: readonly Verdict[];
  /** What a look at the levels that are not claimed has found. */
  readonly probed: readonly Probed[];
  readonly unchecked: readonly Unchecked[];
  /** Faults of the suite's own requests. */
  readonly faults: readonly string[];
}
