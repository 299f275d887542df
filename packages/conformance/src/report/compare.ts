import type { Report } from "./report.ts";

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
