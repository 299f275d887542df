import type { Grade } from "./change.ts";

/** The version step that semantic versioning requires. */
export type Bump = "major" | "minor" | "patch" | "none";

export function bumpFor(found: readonly Grade[]): Bump {
  if (found.includes("breaking")) return "major";
  if (found.includes("additive")) return "minor";
  return found.length > 0 ? "patch" : "none";
}

/** Checks that the version has grown by at least this step. */
export function isEnough(before: string, now: string, bump: Exclude<Bump, "none">): boolean {
  const [from, to] = [numbersOf(before), numbersOf(now)];
  const first = to.findIndex((number, index) => number !== from[index]);
  const isUp = first >= 0 && (to[first] ?? 0) > (from[first] ?? 0);
  return isUp && first <= ["major", "minor", "patch"].indexOf(bump);
}

const numbersOf = (version: string): readonly number[] => version.split(".").map(Number);
