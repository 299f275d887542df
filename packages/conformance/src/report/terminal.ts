import { styleText } from "node:util";
import { chaptersOf, failuresOf, isOpen, openReasonsOf } from "./chapters.ts";
import type { Failure } from "./chapters.ts";
import type { ClauseReport, Report } from "./report.ts";

export interface TerminalOptions {
  /** Everything, rather than a summary of at most 80 lines. */
  readonly isVerbose?: boolean;
  readonly hasColours?: boolean;
  /** The folder of the reports, if they are written. */
  readonly folder?: string | undefined;
}

const maxLines = 80;
const maxColumns = 120;
const maxReasons = 6;

/** Returns whether standard output shows colours: on a terminal, unless NO_COLOR is set. */
export const hasColours = (): boolean =>
  process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb";

type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/**
 * The result of a run for a terminal: counts by chapter, the failures, the reasons of open verdicts, and the next step.
 *
 * @returns at most 80 lines of at most 120 columns, unless it is verbose
 */
export function toTerminal(
  report: Report,
  { isVerbose = false, hasColours = false, folder }: TerminalOptions = {},
): string {
  const paint: Paint = (style, text) => (hasColours ? styleText(style, text, { validateStream: false }) : text);
  const head = [...verdictLines(report, paint), "", ...chapterLines(report)];
  const tail = [...openLines(report, isVerbose), ...factLines(report), ...nextLines(report, isVerbose, folder), ""];
  const failures = failuresOf(report);
  const room = maxLines - head.length - tail.length - 4;
  const blocks = failures.map((failure) => failureLines(failure, report, isVerbose, paint));
  const shown = isVerbose ? blocks : fitting(blocks, room);
  const left = blocks.length - shown.length;
  const rest = left === 0 ? [] : [`… and ${left} more; --verbose shows them all.`];
  const title = failures.length === 0 ? [] : ["", paint("bold", `Broken, each cause once (${failures.length}):`)];
  const lines = ["", ...head, ...title, ...shown.flat(), ...rest, ...tail];
  return lines.map((line) => (isVerbose ? line : cut(line))).join("\n");
}

/** The first blocks that fit into a number of lines. */
function fitting(blocks: readonly string[][], maxOfAll: number): readonly string[][] {
  let used = 0;
  const end = blocks.findIndex((block) => (used += block.length) > maxOfAll);
  return end < 0 ? blocks : blocks.slice(0, end);
}

// A colour takes no column: its escape sequence is not counted.
// oxlint-disable-next-line eslint/no-control-regex
const escapes = /\u001B\[[0-9;]*m/g;

function cut(line: string): string {
  const plain = line.replaceAll(escapes, "");
  if (plain.length <= maxColumns) return line;
  return plain === line
    ? `${line.slice(0, maxColumns - 1)}…`
    : `${line.slice(0, maxColumns - 1 + line.length - plain.length)}…`;
}

const verdictColours = { conformant: "green", "not conformant": "red", inconclusive: "yellow" } as const;

function verdictLines(report: Report, paint: Paint): string[] {
  const { implementation, contract, counts, interop, verdict, run } = report;
  const name = [implementation.name, implementation.version].filter(Boolean).join(" ");
  const summary = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return [
    `${name}: ${paint(verdictColours[verdict], verdict)} with contract ${contract.version} (${summary.join(", ")}).`,
    `For mainstream SDKs: ${interop}.`,
    ...(run.isInterrupted ? ["The run was interrupted, so this is only what is known so far."] : []),
  ];
}

function chapterLines(report: Report): string[] {
  const chapters = chaptersOf(report).filter(({ kept, broken, open }) => kept + broken + open > 0);
  const line = (title: string, ...counts: readonly (string | number)[]): string =>
    `${title.padEnd(26)}${counts.map((count) => String(count).padStart(8)).join("")}`;
  return [
    line("", "kept", "broken", "open"),
    ...chapters.map(({ prefix, title, kept, broken, open }) => line(`${prefix.padEnd(6)}${title}`, kept, broken, open)),
  ];
}

const stateColours: Readonly<Record<string, "red" | "yellow">> = { FAIL: "red", XPASS: "red", WARN: "yellow" };

function failureLines({ clause, cause, also }: Failure, report: Report, isVerbose: boolean, paint: Paint): string[] {
  const lines = clauseLines(clause, isVerbose, paint);
  if (also.length === 0) return lines;
  const folded = isVerbose ? report.clauses.filter(({ id }) => also.includes(id)) : [];
  return [
    ...lines,
    `     so fails  ${someOf(also, isVerbose)}: ${cause}`,
    ...folded.flatMap((one) => clauseLines(one, true, paint)),
  ];
}

function clauseLines(
  { state, id, sentence, note, expected, actual, exchange, curl }: ClauseReport,
  isVerbose: boolean,
  paint: Paint,
): string[] {
  const details =
    expected === undefined
      ? [`     ${note}`]
      : [
          ...(expected === sentence ? [] : [`     expected  ${expected}`]),
          `     actual    ${actual}`,
          ...(exchange === undefined || !isVerbose ? [] : [`     exchange  ${exchange}`, `     ${curl}`]),
        ];
  return [`${paint(stateColours[state] ?? "yellow", state)} ${id}  ${sentence}`, ...details];
}

function openLines(report: Report, isVerbose: boolean): string[] {
  const reasons = openReasonsOf(report);
  if (reasons.length === 0) return [];
  const shown = isVerbose ? reasons : reasons.slice(0, maxReasons);
  const left = reasons.slice(shown.length).reduce((sum, [, ids]) => sum + ids.length, 0);
  return [
    "",
    `Not judged (${report.clauses.filter(isOpen).length}), because:`,
    ...shown.map(
      ([reason, ids]) =>
        `${report.clauses.find(({ id }) => id === ids[0])?.state} ${someOf(ids, isVerbose)}: ${reason}`,
    ),
    ...(left === 0 ? [] : [`… and ${left} for other reasons; --verbose shows them.`]),
  ];
}

/** A few ids and the number of the others, or all of them. */
const someOf = (ids: readonly string[], isAll: boolean): string =>
  isAll || ids.length < 5 ? ids.join(", ") : `${ids.slice(0, 3).join(", ")} and ${ids.length - 3} more`;

function factLines({ run, levels, unchecked, faults }: Report): string[] {
  const foreign = Object.entries(levels).filter(([, { isClaimed }]) => !isClaimed);
  const found = (isFound: boolean | undefined): string =>
    isFound === undefined ? "" : isFound ? " (found)" : " (not shown)";
  const { clauses, tried, of } = run.sampled;
  return [
    "",
    `${run.requests} requests, ${run.outputTokens} output tokens, ${(run.durationMs / 1000).toFixed(1)} s${run.probes === 0 ? "" : `, and ${run.probes} probes of levels that are not claimed`}.`,
    ...(foreign.length === 0
      ? []
      : [`Levels that were not claimed: ${foreign.map(([level, { isFound }]) => level + found(isFound)).join(", ")}.`]),
    ...(clauses === 0
      ? []
      : [
          `Of ${clauses} clauses ${tried} of ${of} cases were tried; --exhaustive tries them all, --seed chooses others.`,
        ]),
    ...unchecked.map(({ clause, reason }) => `No check of ${clause}: ${reason}`),
    ...faults.map((fault) => `A mistake of the suite: ${fault}`),
  ];
}

/** The step that helps most: the page of the report, the explanation of the first failure, or the missing prerequisite. */
function nextLines(report: Report, isVerbose: boolean, folder: string | undefined): string[] {
  const [first] = failuresOf(report);
  const page =
    folder === undefined ? "--report FOLDER writes a page with every exchange" : `Open ${folder}/report.html`;
  if (first !== undefined)
    return ["", `Next: ${page}. \`explain ${first.clause.id}\` says why the first failure matters and how to comply.`];
  if (report.clauses.some(isOpen) && !isVerbose)
    return ["", `Next: ${page}. The reasons above name what a further run needs.`];
  return [];
}
