import { statSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { ReportCommand, existingPath, listOf, wholeNumber, writableFolder } from "@parley/common/flag-values";
import type { Duty } from "./duty.ts";
import { rowNames } from "./figures.ts";
import type { RowName } from "./figures.ts";
import { subjectKinds } from "./subjects/index.ts";
import type { SubjectKind } from "./subjects/subject.ts";

export interface Flags {
  readonly kinds: readonly SubjectKind[];
  readonly rows: readonly RowName[];
  readonly duty: Duty["name"];
  readonly rounds?: number;
  readonly out: string;
  /** Path of a `result.json` to compare with. */
  readonly compared?: string;
  readonly note?: string;
  readonly isInstalling: boolean;
  /** Minutes of load in a soak, which runs instead of the rows and measures how memory grows. */
  readonly soakMinutes?: number;
}

interface Given {
  readonly subjects?: readonly string[];
  readonly rows?: readonly RowName[];
  readonly short?: true;
  readonly smoke?: true;
  readonly rounds?: number;
  readonly out: string;
  readonly compare?: string;
  readonly note?: string;
  readonly install?: true;
  readonly soak?: number;
}

const results = ".parley/bench/results";

export function readFlags(): Flags {
  const given = command().parse().opts<Given>();
  const { subjects, rows = rowNames, rounds, out, compare, note, soak } = given;
  const all =
    soak === undefined
      ? subjectKinds.filter(({ isOnRequest }) => !isOnRequest).map(({ name }) => name)
      : ["parley-chat"];
  return {
    kinds: subjectKinds.filter(({ name }) => (subjects ?? all).includes(name)),
    rows,
    duty: given.smoke ? "smoke" : given.short ? "short" : "full",
    ...(rounds !== undefined && { rounds }),
    out,
    ...(compare !== undefined && { compared: compare }),
    ...(note !== undefined && { note }),
    isInstalling: given.install === true,
    ...(soak !== undefined && { soakMinutes: soak }),
  };
}

function command(): Command {
  const names = subjectKinds.map(({ name }) => name);
  return new ReportCommand("bench")
    .description(
      "Measures what gateways cost in front of one simulated engine, in turns: processor time of all their processes for " +
        "an answer and an event, latency, memory, bursts. Everything stays on loopback. Speed is reported and never judged.",
    )
    .option("--subjects <names>", `only these, separated by commas: ${names.join(", ")}`, listOf(names))
    .option("--rows <names>", `only these, separated by commas: ${rowNames.join(", ")}`, listOf(rowNames))
    .option("--short", "one short round, some minutes")
    .addOption(new Option("--smoke", "the least that shows that every row works").conflicts("short"))
    .option("--rounds <count>", "how often each is measured", wholeNumber)
    .option("--soak <minutes>", "instead, load Parley for this many minutes, and show how its memory grows", positive)
    .option("--install", "first install the routers and gateways of others from PyPI and npm, below .parley/bench")
    .option(
      "--out <folder>",
      "where the result is saved, in a folder with its date and commit",
      writableFolder,
      results,
    )
    .option(
      "--compare <result>",
      "list what changed since an earlier result: its folder or its result.json",
      resultFile,
    )
    .option("--note <text>", "what a reader should know of the machine; it is saved with the result");
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1440)) throw new InvalidArgumentError("It takes a number of minutes, up to 1440.");
  return value;
}

const resultFile = (path: string): string =>
  existingPath(statSync(existingPath(path)).isDirectory() ? join(path, "result.json") : path);
