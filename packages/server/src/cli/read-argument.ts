import { InvalidArgumentError } from "commander";

export const readList = (text: string): string[] => text.split(",").map((part) => part.trim());

export function readWhole(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, at least 1.");
  return Number(text);
}

export function readUsd(text: string): string {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(text)) throw new InvalidArgumentError("It must be an amount such as 5 or 0.25.");
  return text;
}

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** Milliseconds since 1970 of a date or of a time from now. */
export function readDate(text: string): number {
  const fromNow = /^(\d{1,6})([dhm])$/.exec(text);
  // The expression allows no other unit.
  const ms = fromNow ? Date.now() + Number(fromNow[1]) * unitMs[fromNow[2] as keyof typeof unitMs] : Date.parse(text);
  if (Number.isNaN(ms))
    throw new InvalidArgumentError("It must be a date such as 2027-01-31, or a time from now such as 30d or 12h.");
  return ms;
}
