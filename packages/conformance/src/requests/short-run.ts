import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import type { RunProfile } from "../profile.ts";

/** Returns whether a run has to be short: it claims no level but core and stream, and is not exhaustive. */
export const isShort = ({ isExhaustive, levels }: RunProfile): boolean =>
  !isExhaustive && levels.every((level) => level === "core" || level === "stream");

/** Leaves a step out of short runs. */
export function notInShortRun({ profile }: Context): void {
  if (isShort(profile)) cannot("left out of a short run; --exhaustive and further levels send it");
}
