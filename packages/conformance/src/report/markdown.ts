import { levels } from "../contract/contract.ts";
import type { Report } from "./report.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 300);

/** A page for a repository or an issue. */
export function toMarkdown(report: Report): string {
  const { run, implementation } = report;
  const notable = report.clauses.filter(({ state }) => !["PASS", "NOT_APPLICABLE"].includes(state));
  return [
    `# ${implementation.name}${implementation.version === undefined ? "" : ` ${implementation.version}`}: ${report.verdict}`,
    "",
    `Contract ${report.contract.version}, judged ${run.startedAt} with ${run.requests} requests and ${run.outputTokens} output tokens in ${(run.durationMs / 1000).toFixed(1)} s${run.sampled.clauses === 0 ? "" : `; of ${run.sampled.clauses} clauses ${run.sampled.tried} of ${run.sampled.of} cases were tried`}. For mainstream SDKs: ${report.interop}.`,
    "",
    "| level | claimed | kept | broken | open |",
    "| --- | --- | --- | --- | --- |",
    ...levels.map((level) => {
      const { isClaimed, isFound, passed, failed, open } = report.levels[level];
      const claim = isClaimed ? "yes" : isFound === undefined ? "no" : isFound ? "no, found" : "no, not found";
      return `| ${level} | ${claim} | ${passed} | ${failed} | ${open} |`;
    }),
    "",
    ...(notable.length === 0
      ? ["Every clause that was judged is kept."]
      : ["| clause | state | for SDKs | sentence | what was found |", "| --- | --- | --- | --- | --- |"]),
    ...notable.map(
      (one) => `| ${one.id} | ${one.state} | ${one.interop ?? "–"} | ${cell(one.sentence)} | ${cell(one.note)} |`,
    ),
    "",
  ].join("\n");
}
