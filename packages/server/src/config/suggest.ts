import { closestMatch } from "leven";

/** Returns the known name that is nearest to a misspelt one; undefined if none is near. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.max(2, Math.ceil(name.length / 3));
  return closestMatch(name, [...known], { maxDistance });
}
