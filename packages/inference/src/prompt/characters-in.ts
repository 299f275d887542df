/** How long a value is about: the characters of all its texts. */
export function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + charactersIn(item), 1);
}
