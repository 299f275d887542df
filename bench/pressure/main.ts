import { writeFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { ReportCommand, writableFile } from "@parley/common/flag-values";
import { judge } from "./judge-row.ts";
import type { Measured } from "./judge-row.ts";
import { runAll } from "./run-rows.ts";
import { toTable } from "./print.ts";
import { rows, rowsNamed, shortRows } from "./rows.ts";
import type { Row } from "./row.ts";

interface Flags {
  readonly only?: readonly Row[];
  readonly seconds?: number;
  readonly json?: string;
  readonly short?: boolean;
  readonly list?: boolean;
}

const flags = new ReportCommand("pressure")
  .description(
    "Attacks a server that it starts itself, and shows what another caller sees meanwhile, beside what that caller sees " +
      "alone. It takes Linux, loopback and a few minutes. Exit code 1: something stopped.",
  )
  .option("--only <rows>", "these rows or groups, separated by commas, such as body,sockets/churn", readRows)
  .option("--seconds <n>", "length of each attack, 1 to 60; else 8, and longer where a row needs it", readSeconds)
  .option("--json <file>", "write everything that was measured to a file", writableFile)
  .option("--short", "one or two rows of each kind, 2 s each: shows only whether something stops")
  .option("--list", "say what the rows are, and run none")
  .parse()
  .opts<Flags>();

function readRows(text: string): readonly Row[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => rowsNamed([name]).length === 0);
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no row "${unknown}"; --list shows them.`);
  return rowsNamed(names);
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 60)) throw new InvalidArgumentError("It takes a number from 1 to 60.");
  return seconds;
}

const chosen = flags.only ?? (flags.short === true ? shortRows : rows);
if (flags.list === true) {
  const width = Math.max(...chosen.map(({ name }) => name.length));
  for (const { name, engine, action } of chosen)
    process.stdout.write(`${name.padEnd(width)}  ${engine.padEnd(8)}  ${action}\n`);
} else process.exitCode = await run();

function withVerdict(measured: Measured): object {
  return { ...measured, verdict: judge(measured) };
}

/** @returns the exit code */
async function run(): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const { seconds, short: isShort = false } = flags;
  const all = await runAll(chosen, { seconds, isShort, stop: stop.signal, say });
  process.stdout.write(`${toTable(all)}\n`);
  if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(all.map(withVerdict), undefined, 1));
  if (stop.signal.aborted) return 130;
  return all.some((measured) => judge(measured).stopped.length > 0) ? 1 : 0;
}
