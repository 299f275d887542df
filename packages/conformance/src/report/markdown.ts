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

const signs: Readonly<Record<string, string>> = {
  PASS: "✓",
  FAIL: "✗",
  WARN: "!",
  UNTESTABLE: "?",
  ERROR: "E",
  NOT_APPLICABLE: "·",
  XFAIL: "x",
  XPASS: "X",
};

/** Several implementations side by side, clause by clause. */
export function compareReports(reports: readonly Report[]): string {
  const names = reports.map(({ implementation }) => `${implementation.name} ${implementation.version ?? ""}`.trim());
  const ids = [...new Set(reports.flatMap(({ clauses }) => clauses.map(({ id }) => id)))];
  const rows = ids.map((id) => {
    const found = reports.map(({ clauses }) => clauses.find((clause) => clause.id === id));
    const first = found.find((one) => one !== undefined);
    return `| ${id} | ${first?.level} | ${found.map((one) => cellOf(one?.state, one?.interop)).join(" | ")} |`;
  });
  const line = (title: string, cell: (report: Report) => string | number): string =>
    `| ${title} | | ${reports.map(cell).join(" | ")} |`;
  return [
    "✓ kept, ✗ broken, ! a SHOULD that is broken, ? could not be tested, · not claimed; (✓) and (✗): what mainstream SDKs need of a clause that is broken or open.",
    "",
    `| clause | level | ${names.join(" | ")} |`,
    `| --- | --- | ${names.map(() => "---").join(" | ")} |`,
    line("**kept**", ({ counts }) => counts.PASS ?? 0),
    line("**broken**", ({ counts }) => (counts.FAIL ?? 0) + (counts.WARN ?? 0)),
    line("**open**", ({ counts }) => (counts.UNTESTABLE ?? 0) + (counts.ERROR ?? 0)),
    ...rows,
    "",
  ].join("\n");
}

function cellOf(state: string | undefined, interop: string | undefined): string {
  const sign = signs[state ?? ""] ?? " ";
  const isOpen = state === "FAIL" || state === "UNTESTABLE";
  return isOpen && interop !== undefined && interop !== "UNTESTABLE"
    ? `${sign} (${interop === "PASS" ? "✓" : "✗"})`
    : sign;
}
