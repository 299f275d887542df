import leven from "leven";

/** Returns the known name that is nearest to a misspelt one; undefined if none is near. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  const maxEdits = Math.max(2, Math.ceil(name.length / 3));
  const near = known.map((other) => ({ other, edits: countEdits(name, other) }));
  return near.filter(({ edits }) => edits <= maxEdits).toSorted((a, b) => a.edits - b.edits)[0]?.other;
}

/** Returns the edits between two names. Where one contains the other, as `LOG_LEVEL` contains `LOG`, they count a third. */
export const countEdits = (one: string, other: string): number =>
  leven(one, other) / (one.includes(other) || other.includes(one) ? 3 : 1);
