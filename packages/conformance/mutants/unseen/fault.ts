import type { Mutant } from "../reference/mutant.ts";

/** A fault of a real server, as a mutant of the reference server. No clause names it. */
export interface UnseenFault {
  readonly title: string;
  readonly mutant: Mutant;
  /** The issue or pull request that describes the fault; absent: a common mistake without one reference. */
  readonly seen?: string;
  /** True if only an engine that fails shows the fault. */
  readonly needsFailure?: true;
}

export const unseen = (title: string, mutant: Mutant, seen?: string): UnseenFault => ({
  title,
  mutant,
  ...(seen !== undefined && { seen }),
});

export const unseenWithFailure = (title: string, mutant: Mutant, seen?: string): UnseenFault => ({
  ...unseen(title, mutant, seen),
  needsFailure: true,
});
