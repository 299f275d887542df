/**
 * Returns the approximate length of a value: the characters of all its strings and member names, plus one for each other part.
 */
export function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charactersIn(item), 1);
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + charactersIn(item), 1);
}
