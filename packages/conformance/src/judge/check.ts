import type { HttpRequest } from "../wire/http-request.ts";
import type { Context } from "./context.ts";

/** Requests that belong together, described before any is sent. */
export interface Step {
  readonly name: string;
  /** Steps that come first, because the requests are built from their answers. */
  readonly needs?: readonly string[];
  /**
   * Returns the name of an earlier exchange that covers this step, so that it need not be sent. It throws, through `broken`
   * or `cannot`, if no exchange covers it. An exhaustive run sends every step.
   */
  readonly coveredBy?: (context: Context) => string;
  /** @throws UntestableError if it cannot be sent */
  readonly requests: (context: Context) => readonly HttpRequest[];
  /** Absent: one after another, each on a connection of its own. */
  readonly how?: "on one connection" | "side by side";
  /** The requests are valid by the contract. They are checked against the schema before they are sent. */
  readonly isValid?: boolean;
  /** `background`: it is slow and runs while others run. `last`: it disturbs others and runs alone after them. */
  readonly when?: "background" | "last";
  /** True if every request of the step has to be refused, so that it costs nothing. */
  readonly isRefused?: boolean;
  /** True if the usage records of its requests are looked up. */
  readonly isRecorded?: boolean;
}

export interface Cases {
  readonly tried: number;
  readonly of: number;
}

/** The way in which one clause is judged. */
export interface Check {
  readonly clause: string;
  /** The set of requirements that brought the check, such as 2027-03. Absent: the first one has it. */
  readonly since?: string;
  /** The set of requirements that replaced the check. Absent: every later set has it. */
  readonly until?: string;
  /** A sentence that says what the check does. */
  readonly how: string;
  /** The steps that have to be sent for it. A check may read further answers of the run. */
  readonly uses: readonly string[];
  /** Returns what was seen if the clause is kept, and throws through `broken` or `cannot` otherwise. */
  readonly judge: (context: Context) => string;
  /** The number of cases that were tried, and the number that an exhaustive run tries. Absent: every run tries them all. */
  readonly cases?: (context: Context) => Cases;
  /**
   * Judges only the part that every OpenAI-compatible server owes, without what this contract adds. If no check of a clause
   * has it, every server owes the whole clause. Only clauses with the mark `openai` are judged by it.
   */
  readonly common?: (context: Context) => string;
}

export const checkOf = (
  clause: string,
  how: string,
  uses: readonly string[],
  judge: Check["judge"],
  common?: Check["common"],
): Check => ({ clause, how, uses, judge, ...(common && { common }) });

/** A clause that cannot be judged from outside, and why. */
export interface Unchecked {
  readonly clause: string;
  readonly reason: string;
}

/** The requests and checks of the clauses with one prefix, such as STRM. */
export interface TestGroup {
  readonly steps: readonly Step[];
  readonly checks: readonly Check[];
}
