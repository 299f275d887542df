import { closestMatch } from "leven";

/** The known name that was probably meant; undefined: none is near. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.max(2, Math.ceil(name.length / 3));
  return closestMatch(name, [...known], { maxDistance });
}
