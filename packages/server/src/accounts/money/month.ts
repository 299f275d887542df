/** Returns the calendar month in UTC of a Unix time in milliseconds, such as `2026-11`. */
export function monthOf(ms: number): string {
  if (ms < latest.fromMs || ms >= latest.toMs) {
    const month = new Date(ms).toISOString().slice(0, 7);
    latest = { month, fromMs: Date.parse(`${month}-01`), toMs: startOfNextMonth(ms) };
  }
  return latest.month;
}

/** The last result. Most calls are for the same month, and formatting a date is slow. */
let latest = { month: "", fromMs: 0, toMs: 0 };

/** Returns the first millisecond of the month that contains `ms`. */
export const startOfMonth = (ms: number): number => Date.parse(`${monthOf(ms)}-01`);

/** Returns the first millisecond of the month after that of `ms`. */
export function startOfNextMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
