import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { parseTime } from "../accounts/manage/wire.ts";

export const readList = (text: string): string[] => text.split(",").map((part) => part.trim());

export function readWhole(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, at least 1.");
  return Number(text);
}

/** The maximum weight of a key. A key of weight 1 then still gets one hundredth of the share of such a key. */
const maxWeight = 100;

export function readWeight(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > maxWeight)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maxWeight}.`);
  return Number(text);
}

export function readUsd(text: string): string {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(text)) throw new InvalidArgumentError("It must be an amount such as 5 or 0.25.");
  return text;
}

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** Parses a length of time such as `30d`, `12h` or `15m`. @returns milliseconds; undefined if it is not one */
function parseSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  // The expression allows no other unit.
  return count === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}

export function readSpan(text: string): number {
  const span = parseSpan(text);
  if (span === undefined) throw new InvalidArgumentError("It must be a length of time such as 7d, 12h or 30m.");
  return span;
}

/** Parses a date, or a date with a time, in UTC unless it names a zone. @returns milliseconds since 1970, or NaN */
function parseDate(text: string): number {
  const [, day, time, zone] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? [];
  return parseTime(time === undefined ? (day ?? "") : `${day}T${time}${zone ?? "Z"}`);
}

/** Parses a date, or a time from now. @returns milliseconds since 1970 */
export function readFuture(text: string): number {
  const span = parseSpan(text);
  const ms = span === undefined ? parseDate(text) : Date.now() + span;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError("It must be a date such as 2027-01-31, or a time from now such as 30d or 12h.");
  if (ms <= Date.now()) throw new InvalidArgumentError("It must be in the future.");
  return ms;
}

/** Parses a date, or a time ago. @returns milliseconds since 1970 */
export function readPast(text: string): number {
  const span = parseSpan(text);
  const ms = span === undefined ? parseDate(text) : Date.now() - span;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError("It must be a date such as 2026-11-01, or a time ago such as 30d or 12h.");
  return ms;
}

/** Refuses each argument that a command does not take, and says where it belongs. */
export function refuseSurplus(program: Command): void {
  allowSurplus(program);
  program.hook("preAction", (_program, command) => {
    const { args, registeredArguments: known } = command;
    const surplus = args[known.length];
    if (surplus === undefined || known.at(-1)?.variadic === true) return;
    const taken = known.length === 0 ? "no arguments" : known.map((argument) => `<${argument.name()}>`).join(" ");
    command.error(
      `error: '${pathOf(command)}' takes ${taken}, but got '${surplus}', too.${adviceFor(command, surplus)}`,
    );
  });
}

/** Otherwise, Commander says only that there are too many arguments. */
function allowSurplus(command: Command): void {
  command.allowExcessArguments();
  for (const one of command.commands) allowSurplus(one);
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

function adviceFor({ commands, options, registeredArguments }: Command, surplus: string): string {
  if (commands.length > 0) return ` Its commands: ${commands.map((one) => one.name()).join(", ")}.`;
  if (registeredArguments.length > 0) return " An argument with blanks needs quotation marks.";
  return options.some(({ long }) => long === "--name") ? ` A name needs its flag: --name '${surplus}'.` : "";
}
