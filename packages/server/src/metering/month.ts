/** The calendar month in UTC, such as `2026-11`. */
export function monthOf(ms: number): string {
  if (ms < latest.fromMs || ms >= latest.toMs) {
    const month = new Date(ms).toISOString().slice(0, 7);
    latest = { month, fromMs: Date.parse(`${month}-01`), toMs: startOfNextMonth(ms) };
  }
  return latest.month;
}

/** The result of the last call is kept, because most calls are for the same month, and formatting a date is slow. */
let latest = { month: "", fromMs: 0, toMs: 0 };

/** Its first millisecond. */
export const startOfMonth = (ms: number): number => Date.parse(`${monthOf(ms)}-01`);

/** The first millisecond of the month after it. */
export function startOfNextMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
