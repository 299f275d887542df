import { assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIn, isTimeZone, periodAt, periods, stepMs } from "./period.ts";
import type { Period } from "./period.ts";

/** The zones that this runtime knows, and names that only mean the same as another one. */
const zones = [...Intl.supportedValuesOf("timeZone"), "UTC", "Asia/Kolkata", "Europe/Kyiv"];
const first = Date.parse("1980-01-01");
const last = Date.parse("2037-12-31");

const iso = (ms: number): string => new Date(ms).toISOString();
const spanOf = (at: string, period: Period, zone: string): string[] => {
  const { fromMs, toMs } = periodAt(Date.parse(at), period, zone);
  return [iso(fromMs).slice(0, 16), iso(toMs).slice(0, 16)];
};

/** Dates and hours by hand, from the IANA database. */
const table: readonly (readonly [what: string, period: Period, zone: string, at: string, from: string, to: string])[] =
  [
    ["a day of 23 hours", "day", "Europe/Berlin", "2026-03-29T12:00Z", "2026-03-28T23:00", "2026-03-29T22:00"],
    ["a day of 25 hours", "day", "Europe/Berlin", "2026-10-25T12:00Z", "2026-10-24T22:00", "2026-10-25T23:00"],
    ["a month with both", "month", "America/New_York", "2026-03-15T12:00Z", "2026-03-01T05:00", "2026-04-01T04:00"],
    ["a leap day", "day", "UTC", "2028-02-29T23:59:59.999Z", "2028-02-29T00:00", "2028-03-01T00:00"],
    ["a leap February", "month", "Asia/Tokyo", "2028-02-29T12:00Z", "2028-01-31T15:00", "2028-02-29T15:00"],
    ["no leap day in 2100", "month", "UTC", "2100-02-28T12:00Z", "2100-02-01T00:00", "2100-03-01T00:00"],
    ["a week over new year", "week", "UTC", "2027-01-01T12:00Z", "2026-12-28T00:00", "2027-01-04T00:00"],
    ["a Sunday ends a week", "week", "UTC", "2026-11-29T23:59Z", "2026-11-23T00:00", "2026-11-30T00:00"],
    ["a Monday begins one", "week", "Asia/Kolkata", "2026-11-29T18:30Z", "2026-11-29T18:30", "2026-12-06T18:30"],
    ["a zone of 45 minutes", "day", "Asia/Kathmandu", "2026-11-27T18:14Z", "2026-11-26T18:15", "2026-11-27T18:15"],
    [
      "a zone of half an hour of daylight saving",
      "day",
      "Australia/Lord_Howe",
      "2026-04-04T16:00Z",
      "2026-04-04T13:00",
      "2026-04-05T13:30",
    ],
    [
      "a midnight that is skipped",
      "day",
      "America/Sao_Paulo",
      "2018-11-04T12:00Z",
      "2018-11-04T03:00",
      "2018-11-05T02:00",
    ],
    [
      "the day before a skipped midnight",
      "day",
      "America/Sao_Paulo",
      "2018-11-04T02:59Z",
      "2018-11-03T03:00",
      "2018-11-04T03:00",
    ],
    [
      "an hour before midnight that is shown twice",
      "day",
      "America/Sao_Paulo",
      "2018-02-18T02:30Z",
      "2018-02-17T02:00",
      "2018-02-18T03:00",
    ],
    ["another skipped midnight", "day", "Asia/Beirut", "2026-03-29T12:00Z", "2026-03-28T22:00", "2026-03-29T21:00"],
    ["a skipped day", "day", "Pacific/Apia", "2011-12-30T09:59Z", "2011-12-29T10:00", "2011-12-30T10:00"],
    ["the day after a skipped day", "day", "Pacific/Apia", "2011-12-30T10:00Z", "2011-12-30T10:00", "2011-12-31T10:00"],
    [
      "a month with a skipped day",
      "month",
      "Pacific/Apia",
      "2011-12-30T12:00Z",
      "2011-12-01T10:00",
      "2011-12-31T10:00",
    ],
    [
      "a midnight that is shown again a minute later",
      "day",
      "America/St_Johns",
      "2006-10-29T02:45Z",
      "2006-10-29T02:30",
      "2006-10-30T03:30",
    ],
  ];

test.each(table)("%s: each %s in %s at %s", (_what, period, zone, at, from, to) => {
  expect(spanOf(at, period, zone)).toEqual([from, to]);
});

/** The clocks of a zone, by another way than the code: from the offset in the name of the zone. */
const offsets = new Map<string, Intl.DateTimeFormat>();
function dateOf(ms: number, zone: string): string {
  const format = offsets.get(zone) ?? new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  offsets.set(zone, format);
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign = "+", hours = "0", minutes = "0", seconds = "0"] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return iso(ms + (sign === "-" ? -offsetMs : offsetMs)).slice(0, 10);
}

/** Returns the first day of the period of a date, by the calendar of strings. */
function firstDateOf(date: string, period: Period): string {
  if (period === "day") return date;
  if (period === "month") return `${date.slice(0, 7)}-01`;
  const ms = Date.parse(date);
  for (let back = 0; ; back += 1) {
    const day = new Date(ms - back * 86_400_000);
    if (day.getUTCDay() === 1) return iso(day.getTime()).slice(0, 10);
  }
}

describe("in every zone, from 1980 to 2037,", () => {
  const anyTime = integer({ min: first, max: last });
  const anyZone = constantFrom(...zones);
  const anyPeriod = constantFrom(...periods);

  test("a period contains its time, begins at a quarter of an hour, and the next one begins at its end", () => {
    assert(
      property(anyTime, anyPeriod, anyZone, (ms, period, zone) => {
        const { fromMs, toMs } = periodAt(ms, period, zone);
        expect(fromMs <= ms && ms < toMs).toBe(true);
        expect([fromMs % stepMs, toMs % stepMs]).toEqual([0, 0]);
        expect(periodAt(toMs, period, zone).fromMs).toBe(toMs);
        expect(periodAt(fromMs - 1, period, zone).toMs).toBe(fromMs);
        for (const inside of [fromMs, ms, toMs - 1]) expect(periodAt(inside, period, zone)).toEqual({ fromMs, toMs });
      }),
      { numRuns: 500 },
    );
  });

  test("it begins when the clocks first show its first day or a later one, and not a minute earlier or later", () => {
    assert(
      property(anyTime, anyPeriod, anyZone, (ms, period, zone) => {
        const { fromMs, toMs } = periodAt(ms, period, zone);
        const day = firstDateOf(dateOf(fromMs, zone), period);
        expect(dateOf(fromMs, zone) >= day).toBe(true);
        for (let minute = 1; minute <= 180; minute += 1)
          expect(dateOf(fromMs - minute * 60_000, zone) < day).toBe(true);
        expect(firstDateOf(dateOf(toMs - 1, zone), period) <= day).toBe(true);
        expect(firstDateOf(dateOf(toMs, zone), period) > day).toBe(true);
      }),
      { numRuns: 120 },
    );
  });
});

test.each([
  ["UTC", true],
  ["Europe/Berlin", true],
  ["europe/berlin", true],
  ["Asia/Kolkata", true],
  ["Etc/GMT+5", true],
  ["Europe/Berln", false],
  ["+02:00", false],
  ["-08", false],
  ["", false],
  ["local", false],
])("%s is a time zone: %s", (name, is) => {
  expect(isTimeZone(name)).toBe(is);
});

test("a time is written as the clocks of the zone show it", () => {
  expect(formatIn(Date.parse("2026-11-30T23:00Z"), "Europe/Berlin")).toBe("2026-12-01 00:00");
  expect(formatIn(Date.parse("2018-11-04T03:00Z"), "America/Sao_Paulo")).toBe("2018-11-04 01:00");
});
