/** The calendar periods for which a budget may be. */
export const periods = ["day", "week", "month"] as const;
export type Period = (typeof periods)[number];

/** A span of time, in Unix milliseconds. The end does not belong to it. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The span of a budget that never renews. */
export const always: Span = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/**
 * Spending of a group that is older than this number of milliseconds becomes one sum. Newer spending is kept for each quarter of
 * an hour. The longest period is two months shorter, so budgets stay right when the clock was up to two months ahead.
 */
export const keptSpendingMs = 93 * 86_400_000;

/** Every period begins at a multiple of this number of milliseconds, in every zone since 1980. */
export const stepMs = 15 * 60_000;

const dayMs = 86_400_000;
/** Only its calendar and its digits matter. */
const locale = "en-US-u-ca-gregory-nu-latn";
/** Midnight of a zone is within this number of milliseconds of that of UTC. */
const maxOffsetMs = 16 * 3_600_000;

/** Returns true for the name of an IANA time zone, in any case. An offset such as `+02:00` is not one. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/**
 * Returns the period that contains a time. A period begins when the clocks of the zone first show its first day. Where they
 * skip that day or its midnight, it begins when they first show a later time. A clock that is set back over midnight does not
 * begin the day again. So periods follow each other without a gap, and each begins once.
 * @param ms Unix milliseconds
 */
export function periodAt(ms: number, period: Period, timeZone: string): Span {
  const zone = zoneOf(timeZone);
  const known = zone.latest.get(period);
  if (known && ms >= known.fromMs && ms < known.toMs) return known;
  let first = firstDayOf(zone.dayOf(ms), period);
  // The clocks may show an earlier day again, after the period of the next one has begun.
  if (startOf(zone, nextOf(first, period)) <= ms) first = nextOf(first, period);
  const span = { fromMs: startOf(zone, first), toMs: startOf(zone, nextOf(first, period)) };
  zone.latest.set(period, span);
  return span;
}

interface Zone {
  /** Returns the date on the clocks of the zone, as the Unix milliseconds of its midnight in UTC. */
  readonly dayOf: (ms: number) => number;
  /** The last results. Most calls are for the same period, and looking at the clocks is slow. */
  readonly latest: Map<Period, Span>;
}

const zones = new Map<string, Zone>();

function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat(locale, {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
  });
  const dayOf = (ms: number): number => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts.get("year") ?? 0, (parts.get("month") ?? 1) - 1, parts.get("day"));
  };
  const zone = { dayOf, latest: new Map<Period, Span>() };
  zones.set(timeZone, zone);
  return zone;
}

/** Returns the first day of the period of a day. Days are the Unix milliseconds of their midnight in UTC. */
function firstDayOf(day: number, period: Period): number {
  const date = new Date(day);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  return period === "day" ? day : day - ((date.getUTCDay() + 6) % 7) * dayMs;
}

/** Returns the first day of the next period. @param first the first day of a period */
function nextOf(first: number, period: Period): number {
  const date = new Date(first);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return first + (period === "day" ? dayMs : 7 * dayMs);
}

/** Returns the first time at which the clocks show a day or a later one. */
function startOf(zone: Zone, day: number): number {
  let ms = day - maxOffsetMs;
  while (zone.dayOf(ms) < day) ms += stepMs;
  return ms;
}

/** Returns the number of the quarter of an hour that contains a time. Periods consist of whole ones. */
export const slotOf = (ms: number): number => Math.floor(ms / stepMs);

/** Returns the date and time on the clocks of a zone, such as `2026-12-01 00:00`. */
export function formatIn(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat(locale, {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const { year, month, day, hour, minute } = Object.fromEntries(
    format.formatToParts(ms).map(({ type, value }) => [type, value]),
  );
  return `${year}-${month}-${day} ${hour}:${minute}`;
}
