import { levels } from "../contract/contract.ts";
import type { ClauseReport, Report } from "./report.ts";

/** The text for a terminal: the levels, then a line and a few details for every clause that is not kept. */
export function toTerminal(report: Report): string {
  const { run, counts, interop, verdict } = report;
  const summary = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return [
    "",
    ...levels.flatMap((level) => levelLines(level, report)),
    `${report.implementation.name}: ${verdict} with contract ${report.contract.version} (${summary.join(", ")}).`,
    `For mainstream SDKs: ${interop}.`,
    `${run.requests} requests, ${run.outputTokens} output tokens, ${(run.durationMs / 1000).toFixed(1)} s${run.probes === 0 ? "" : `, and ${run.probes} probes of levels that are not claimed`}.`,
    ...(run.sampled.clauses === 0 ? [] : [sampledLine(run)]),
    ...report.unchecked.map(({ clause, reason }) => `No check of ${clause}: ${reason}`),
    ...report.faults.map((fault) => `A mistake of the suite: ${fault}`),
    "",
  ].join("\n");
}

const sampledLine = ({ sampled: { clauses, tried, of } }: Report["run"]): string =>
  `Of ${clauses} clauses ${tried} of ${of} cases were tried; --exhaustive tries them all, --seed chooses others.`;

const foundWord = (isFound: boolean | undefined): string =>
  isFound === undefined ? "" : isFound ? "found: " : "not found: ";

function levelLines(level: (typeof levels)[number], report: Report): string[] {
  const { isClaimed, passed, failed, open, isFound, note } = report.levels[level];
  const own = report.clauses.filter((clause) => clause.level === level);
  if (!isClaimed) return [`${level}: not claimed, ${foundWord(isFound)}${note ?? ""}`];
  const notable = own.filter(({ state }) => !["PASS", "NOT_APPLICABLE"].includes(state));
  return [`${level}: ${passed} kept, ${failed} broken, ${open} open`, ...notable.flatMap(clauseLines)];
}

function clauseLines({ state, id, sentence, note, expected, actual, exchange, curl }: ClauseReport): string[] {
  const details =
    expected === undefined
      ? [`       ${note}`]
      : [
          `       expected  ${expected}`,
          `       actual    ${actual}`,
          ...(exchange === undefined ? [] : [`       exchange  ${exchange}`, `       ${curl}`]),
        ];
  return [`${state} ${id}  ${sentence}`, ...details];
}
