import type { Command } from "./command.ts";
import { didNotRun } from "./step.ts";
import type { Step } from "./step.ts";

/** The outcome of a step. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skip[];
  /** The end of a failed step's output, or the reason why it was ended. */
  readonly trouble?: string;
}

export interface Finished extends Outcome {
  readonly seconds: number;
}

/** Tests, or a whole step, that did not run. */
export interface Skip {
  readonly count: number;
  /** Names the parts that did not run, and what would let them run. */
  readonly reason: string;
}

export const skipped = (reason: string): Outcome => ({ passed: 0, failed: 0, skipped: [{ count: 1, reason }] });

export const hasPassed = ({ passed, failed }: Outcome): boolean => failed === 0 && passed > 0;

/** @example "119 passed, 2 skipped" */
export function countsOf({ passed, failed, skipped: left }: Outcome): string {
  const [only] = left;
  if (passed + failed === 0 && only) return `skipped: ${only.reason}`;
  const counts = [
    [passed, "passed"],
    [failed, "failed"],
    [left.reduce((sum, { count }) => sum + count, 0), "skipped"],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

/** @returns the command to run; vitest gets a flag to write its report to the file */
export const commandOf = ({ command, counts }: Step, reportFile: string): Command =>
  counts === "one" ? command : [...command, "--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];

/** The results of a finished command. */
export interface Ended {
  readonly exitCode: number;
  readonly output: string;
  /** The text of vitest's report, empty where there is none. */
  readonly report: string;
}

export function outcomeOf({ counts }: Step, { exitCode, output, report }: Ended): Outcome {
  if (exitCode === didNotRun) return skipped(lastLines(output, 1));
  const trouble = exitCode === 0 ? {} : { trouble: lastLines(output, 40) };
  if (counts === "one")
    return { passed: Number(exitCode === 0), failed: Number(exitCode !== 0), skipped: skipsIn(output), ...trouble };
  const { passed, failed, skipped: left } = readReport(report);
  // A run also fails if it broke outside its tests, or found no tests.
  const isBroken = failed === 0 && (exitCode !== 0 || passed + left.length === 0);
  return { passed, failed: isBroken ? 1 : failed, skipped: left, ...trouble };
}

/** Finds the parts that a step skipped, each on a line such as `SKIPPED the tests that need torch`. */
const skipsIn = (output: string): Skip[] =>
  [...output.matchAll(/^SKIPPED (.+)$/gm)].map(([, reason = ""]) => ({ count: 1, reason }));

/** The part of vitest's JSON report that is read. */
interface Report {
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly testResults?: readonly { readonly assertionResults: readonly Assertion[] }[];
}

interface Assertion {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
}

function readReport(text: string): Outcome {
  const report = JSON.parse(text === "" ? "{}" : text) as Report; // vitest's own format
  const tests = (report.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
  const left = tests.filter(({ status }) => !["passed", "failed"].includes(status));
  // The title of a group says what would let its tests run.
  const groups = Map.groupBy(left, ({ ancestorTitles: [group], title }) => group ?? title);
  return {
    passed: report.numPassedTests ?? 0,
    failed: report.numFailedTests ?? 0,
    skipped: [...groups].map(([reason, { length }]) => ({ count: length, reason })),
  };
}

export const lastLines = (text: string, count: number): string => text.trimEnd().split("\n").slice(-count).join("\n");
