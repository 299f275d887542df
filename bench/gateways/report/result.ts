import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import type { Figure } from "../figures.ts";

/** The result of a run, in the form of `result.json`. */
export interface BenchResult {
  /** Start of the run, in UTC. */
  readonly date: string;
  readonly commit: string;
  /** True if the tree had uncommitted changes. */
  readonly isChanged: boolean;
  readonly duty: string;
  readonly rounds: number;
  readonly machine: string;
  /** A remark for the reader about the machine or the run. */
  readonly note?: string;
  readonly subjects: readonly { readonly name: string; readonly title: string }[];
  readonly figures: readonly FigureResult[];
  /** Subjects and rows that were not measured, each with the reason. */
  readonly missing: readonly string[];
}

export interface FigureResult extends Figure {
  /** By the name of the subject: one value per round. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** Returns the median of one subject, or undefined if it was not measured. */
export function medianOf(figure: FigureResult | undefined, subject: string): number | undefined {
  const values = figure?.values[subject] ?? [];
  return values.length === 0 ? undefined : median(values);
}

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();

export const readCommit = (): Pick<BenchResult, "commit" | "isChanged"> => ({
  commit: git("rev-parse", "--short", "HEAD"),
  isChanged: git("status", "--porcelain") !== "",
});

/** Describes the machine in one line, without its host name. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? "an unknown processor";
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} processors (${model}), ${memory} GiB, Linux ${release()}, Node ${process.versions.node}`;
}

export const readResult = (file: string): BenchResult => JSON.parse(readFileSync(file, "utf8")) as BenchResult; // as it was saved
