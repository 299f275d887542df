import type { Report } from "./report.ts";
import { escape } from "./junit.ts";

const colours: Readonly<Record<Report["verdict"], string>> = {
  conformant: "#2e7d32",
  "not conformant": "#b3261e",
  inconclusive: "#8a6d00",
};

/** A badge with the version of the contract and the levels of which every clause is kept. */
export function toBadge(report: Report): string {
  const kept = report.run.claimed.filter((level) => report.levels[level].failed + report.levels[level].open === 0);
  const left = `Parley contract ${report.contract.version}`;
  const right = report.verdict === "conformant" ? kept.join(" · ") : report.verdict;
  const [leftWidth, rightWidth] = [left, right].map((text) => Math.round(text.length * 6.6 + 14)) as [number, number]; // one width for each of two
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${leftWidth + rightWidth}" height="20" role="img" aria-label="${escape(`${left}: ${right}`)}">
<rect width="${leftWidth}" height="20" fill="#424242"/><rect x="${leftWidth}" width="${rightWidth}" height="20" fill="${colours[report.verdict]}"/>
<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11"><text x="7" y="14">${escape(left)}</text><text x="${leftWidth + 7}" y="14">${escape(right)}</text></g>
</svg>
`;
}
