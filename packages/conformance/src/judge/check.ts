import type { Ask } from "../wire/ask.ts";
import type { Context } from "./context.ts";

/** Some requests that belong together, described before anything is sent. */
export interface Step {
  readonly name: string;
  /** Steps whose answers it is built from. */
  readonly needs?: readonly string[];
  /**
   * The name of an exchange that shows the same already. It ends by `broken` or `cannot` where that one does not, and
   * only then the step is sent. A thorough run sends it anyway.
   */
  readonly shownBy?: (context: Context) => string;
  /** @throws Untestable where it cannot be sent */
  readonly asks: (context: Context) => readonly Ask[];
  /** In turn, each on a connection of its own, where it is absent. */
  readonly how?: "on one connection" | "side by side";
  /** What it sends is valid by the contract, and is checked to be before it is sent. */
  readonly isValid?: boolean;
  /** `aside`: it is slow, and runs beside the others. `last`: it disturbs the others, and runs alone, after them. */
  readonly when?: "aside" | "last";
  /** Whether what the service recorded of it is looked up. */
  readonly isRecorded?: boolean;
}

export interface Cases {
  readonly tried: number;
  readonly of: number;
}

/** How one clause is judged. */
export interface Check {
  readonly clause: string;
  /** What the check does, in a sentence. */
  readonly how: string;
  /** The steps that it judges. Steps of which it takes all there is are not named. */
  readonly uses: readonly string[];
  /** What was seen, where the clause is kept. It ends by `broken` or `cannot` otherwise. */
  readonly judge: (context: Context) => string;
  /** How many cases were tried, of those that a thorough run tries; absent where there is nothing to choose from. */
  readonly cases?: (context: Context) => Cases;
  /** The same for what mainstream SDKs need of the clause; absent where they need nothing, `judge` where all of it. */
  readonly interop?: (context: Context) => string;
}

/** A check of which SDKs need all or nothing. */
export const checkOf = (
  clause: string,
  how: string,
  uses: readonly string[],
  judge: Check["judge"],
  isInterop = false,
): Check => ({ clause, how, uses, judge, ...(isInterop && { interop: judge }) });

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
