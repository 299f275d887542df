import { createHash } from "node:crypto";
import { escape } from "./junit.ts";
import type { Report } from "./report.ts";

const colours: Readonly<Record<Report["verdict"], string>> = {
  conformant: "#2e7d32",
  "not conformant": "#b3261e",
  inconclusive: "#8a6d00",
};

/** The profile that a report was judged by, and the frozen set if there was one, such as `openai 2026-12`. */
const labelOf = ({ run, contract }: Report): string =>
  run.profile === "parley" && run.requirements === undefined
    ? `Parley contract ${contract.version}`
    : `${run.profile} ${run.requirements ?? contract.version}`;

/** The levels of which every clause is kept, or the verdict. */
function messageOf({ run, levels, verdict }: Report): string {
  const kept = run.claimed.filter((level) => levels[level].failed + levels[level].open === 0);
  return verdict === "conformant" && kept.length > 0 ? kept.join(" · ") : verdict;
}

/** A badge as an image. */
export function toBadge(report: Report): string {
  const [left, right] = [labelOf(report), messageOf(report)];
  const [leftWidth, rightWidth] = [left, right].map((text) => Math.round(text.length * 6.6 + 14)) as [number, number]; // one width for each of two
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${leftWidth + rightWidth}" height="20" role="img" aria-label="${escape(`${left}: ${right}`)}">
<rect width="${leftWidth}" height="20" fill="#424242"/><rect x="${leftWidth}" width="${rightWidth}" height="20" fill="${colours[report.verdict]}"/>
<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11"><text x="7" y="14">${escape(left)}</text><text x="${leftWidth + 7}" y="14">${escape(right)}</text></g>
</svg>
`;
}

/**
 * A badge in the format of a shields.io endpoint. `shields.io` ignores the member `judged`, which says how old the badge is and
 * which report it belongs to.
 *
 * @param reportJson the text of report.json
 */
export function toEndpoint(report: Report, reportJson: string): string {
  const { run, contract, suite } = report;
  const badge = {
    schemaVersion: 1,
    label: labelOf(report),
    message: `${messageOf(report)} (${run.startedAt.slice(0, 10)})`,
    color: colours[report.verdict].slice(1),
    isError: report.verdict === "not conformant",
    judged: {
      profile: run.profile,
      requirements: run.requirements ?? null,
      contract: contract.version,
      suite: suite.version,
      date: run.startedAt,
      sha256: createHash("sha256").update(reportJson).digest("hex"),
    },
  };
  return `${JSON.stringify(badge, undefined, 1)}\n`;
}
