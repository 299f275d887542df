import type { Clause, Level } from "../contract/contract.ts";
import type { Cause } from "../judge/causes.ts";
import type { Cases, Unchecked } from "../judge/check.ts";
import type { Violation } from "../judge/finding.ts";

/** The verdict on a clause. */
export type State = "PASS" | "FAIL" | "WARN" | "NOT_APPLICABLE" | "UNTESTABLE" | "ERROR" | "XFAIL" | "XPASS";

export interface Verdict {
  readonly clause: Clause;
  readonly state: State;
  /** The verdict on the needs of mainstream SDKs; absent if the clause has no mark `openai`. */
  readonly interop?: "PASS" | "FAIL" | "UNTESTABLE";
  /** The observation, or the reason why the clause was not judged. */
  readonly note: string;
  readonly violation?: Violation;
  /** Present if the run tried only some cases of the clause. */
  readonly cases?: Cases;
}

/** A level that is not claimed. */
export interface Probed {
  readonly level: Level;
  /** Undefined: nothing was sent that shows it, or a small model may be to blame that nothing was shown. */
  readonly isFound?: boolean;
  readonly note: string;
}

export interface Assessment {
  readonly verdicts: readonly Verdict[];
  /** The failures, each once: clauses that fail for one reason are one cause. */
  readonly causes: readonly Cause[];
  /** The results of the probes of levels that are not claimed. */
  readonly probed: readonly Probed[];
  readonly unchecked: readonly Unchecked[];
  /** Mistakes in the suite's own requests. */
  readonly faults: readonly string[];
  /** Present if the run ended before every step was sent: the reason. */
  readonly stopped?: string;
}
