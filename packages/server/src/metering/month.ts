/** The calendar month in UTC, such as `2026-11`. */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/** Its first millisecond. */
export const startOfMonth = (ms: number): number => Date.parse(`${monthOf(ms)}-01`);

/** The first millisecond of the month after it. */
export function startOfNextMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
