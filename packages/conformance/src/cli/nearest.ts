import leven from "leven";

/** Returns the name that is nearest to a misspelt one, regardless of case; undefined if none is near. */
export function nearestOf(name: string, names: readonly string[]): string | undefined {
  const edits = (other: string): number => leven(name.toLowerCase(), other.toLowerCase());
  const [nearest] = names.toSorted((one, other) => edits(one) - edits(other));
  return nearest !== undefined && edits(nearest) <= Math.max(2, Math.ceil(name.length / 3)) ? nearest : undefined;
}

/** Returns the remedy for a misspelt name: the nearest one, or all of them if they are few. */
export function remedyFor(name: string, names: readonly string[]): string {
  const nearest = nearestOf(name, names);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  return names.length <= 12 ? `use one of ${names.join(", ")}.` : "`parley-conformance list` shows the clauses.";
}
